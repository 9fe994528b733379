package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	_ "embed"

	"landfall"
	"landfall/internal/outbound/payvendor"
	"landfall/internal/service/auth"
	"landfall/internal/service/operate"
)

// The furniture of a demo.
const (
	demoOrganisation = "Demo"
	demoSupplier     = "DEMO_ENERGY"
	demoTeam         = "Migration Team"
	demoVendor       = "SANDBOX"

	// DemoLogin is who signs in to the console of a demo.
	DemoLogin = "demo"
)

// Demo is a program over a throw-away database, with somebody in it.
type Demo struct {
	*App
	folder      string
	key         auth.Secret
	base        string
	login       string // the password of the console's only operator
	stopSignals func() // ends the watch for impatient signals
}

// NewDemo makes the database and its furniture. When nobody chose an address
// and the usual one is taken, any free one will do.
func NewDemo(ctx context.Context, settings Settings, version string, log *Log) (*Demo, error) {
	folder, err := os.MkdirTemp("", "landfall-demo-")
	if err != nil {
		return nil, err
	}
	demo := &Demo{folder: folder, stopSignals: removeOnSecondSignal(folder)}
	settings.Database = "sqlite:" + filepath.Join(folder, "demo.db")
	settings.Introspection = true // somebody is looking around
	if demo.App, err = New(ctx, settings, version, log); err != nil {
		defer demo.stopSignals()
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	if err := demo.populate(ctx); err != nil {
		return nil, errors.Join(err, demo.Close())
	}
	address, err := demo.Listen(ctx)
	if err != nil && settings.Listen == Defaults().Listen {
		demo.settings.Listen = "127.0.0.1:0"
		address, err = demo.Listen(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, demo.Close())
	}
	demo.base = "http://" + connectAddress(address)
	return demo, nil
}

// populate makes one of everything a first request needs, with the operator's
// own verbs, so that the demo's audit is as complete as any.
func (d *Demo) populate(ctx context.Context) error {
	operator := operate.New(d.store, operate.Options{Actor: "operator:demo"})
	name := "Demo Energy"
	if _, err := operator.CreateSupplier(ctx, demoSupplier, operate.SupplierChange{Name: &name}); err != nil {
		return err
	}
	if err := operator.CreateOrganisation(ctx, demoOrganisation); err != nil {
		return err
	}
	if err := operator.Grant(ctx, demoSupplier, demoOrganisation); err != nil {
		return err
	}
	if err := operator.CreateTeam(ctx, demoTeam); err != nil {
		return err
	}
	if err := operator.SetVendor(ctx, landfall.Vendor{Code: demoVendor, Adapter: payvendor.Sandbox}); err != nil {
		return err
	}
	link, err := operator.CreateOperator(ctx, DemoLogin, landfall.ConsoleOperator)
	if err != nil {
		return err
	}
	// The link is accepted here and now: whoever tries a demo wants to sign in, and
	// not to set a password first.
	d.login = "look-" + strings.ToLower(rand.Text()[:12])
	if _, err := d.sessions.Accept(ctx, link.Reveal(), d.login); err != nil {
		return err
	}
	_, d.key, err = operator.CreateKey(ctx, operate.KeyRequest{Organisation: demoOrganisation, Role: landfall.RoleImporter})
	return err
}

//go:embed demo.sh
var tourScript string

// tourTemplate is filled with the address and the key that this very demo has, so
// that what it prints can be pasted.
var tourTemplate = template.Must(template.New("tour").Parse(tourScript))

// Welcome says what runs here, to whoever started it.
func (d *Demo) Welcome() string {
	return "Landfall is running at " + d.base + " with a throw-away database.\n" +
		"Ctrl-C here ends it and forgets everything.\n" +
		d.Console() + "\n" +
		"Open a second terminal and paste the lines below into bash or zsh, one after the other.\n"
}

// Console says where the console is and how to sign in.
func (d *Demo) Console() string {
	return "The console is at " + d.base + "/console/: sign in as " + DemoLogin + " with the password " + d.login
}

// Tour prints what to type next. All of it is a shell script, so that it can
// be pasted line by line or as a whole. It has no comments: zsh takes none from
// a keyboard, and an apostrophe in one would leave it waiting for the next.
func (d *Demo) Tour(out io.Writer, program string) error {
	return tourTemplate.Execute(out, map[string]string{
		"Base": d.base, "Key": d.key.Reveal(), "Supplier": demoSupplier, "Team": demoTeam, "Vendor": demoVendor,
		"Program": Quote(program), "Database": Quote(d.settings.Database),
	})
}

// DemoInfo is what is in a demo, for whoever shows it.
type DemoInfo struct {
	Base, Key, Supplier, Team, Vendor string
	Database                          string // as the operator's commands take it
	Folder                            string // is gone at the end, with everything in it
}

// Info says what there is.
func (d *Demo) Info() DemoInfo {
	return DemoInfo{d.base, d.key.Reveal(), demoSupplier, demoTeam, demoVendor, d.settings.Database, d.folder}
}

// Close forgets everything.
func (d *Demo) Close() error {
	defer d.stopSignals()
	return errors.Join(d.App.Close(), os.RemoveAll(d.folder))
}

// connectAddress turns an address that means "everywhere" into one to connect to.
func connectAddress(address net.Addr) string {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return address.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// Quote makes one word of a shell command, as plain as possible.
func Quote(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-", r)
	}) {
		return fmt.Sprintf("'%s'", strings.ReplaceAll(text, "'", `'\''`))
	}
	return text
}
