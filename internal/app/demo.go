package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	_ "embed"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/payvendor"
	"landfall/internal/outbound/target"
	"landfall/internal/service/auth"
	"landfall/internal/service/operate"
)

// The contents of a demo.
const (
	demoOrganisation = "Demo"
	demoSupplier     = "DEMO_ENERGY"
	demoTeam         = "Migration Team"
	demoVendor       = "SANDBOX"
	demoTarget       = "BILLING"

	// DemoLogin is the console user of a demo.
	DemoLogin = "demo"
)

// Demo is a server with a temporary database and sample data.
type Demo struct {
	*App
	folder       string
	key          auth.Secret
	readerKey    auth.Secret
	base         string
	login        string // the console password
	target       *http.Server
	targetFolder *os.Root
	targetURL    string
	stopSignals  func() // undoes removeOnSecondSignal
}

// NewDemo creates a demo. If the default address is in use, it takes a free port.
func NewDemo(ctx context.Context, settings Settings, version string, log *Log) (*Demo, error) {
	folder, err := os.MkdirTemp("", "landfall-demo-")
	if err != nil {
		return nil, err
	}
	demo := &Demo{folder: folder, stopSignals: removeOnSecondSignal(folder)}
	settings.Database = "sqlite:" + filepath.Join(folder, "demo.db")
	settings.Introspection = true // people explore a demo
	// Accounts are delivered to a small target on this machine.
	settings.WebhookKey, settings.WebhookKeyFile, settings.WebhookPlainHTTP = rand.Text()+rand.Text(), "", true
	settings.WebhookNetworks = append(settings.WebhookNetworks, netip.MustParsePrefix("127.0.0.0/8"))
	if demo.App, err = New(ctx, settings, version, log); err != nil {
		defer demo.stopSignals()
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	if err := demo.startTarget(ctx); err != nil {
		return nil, errors.Join(err, demo.Close())
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

// startTarget starts a small target that stores accounts in a folder of the demo.
func (d *Demo) startTarget(ctx context.Context) error {
	folder := filepath.Join(d.folder, "target")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, root.Close())
	}
	d.target = &http.Server{Handler: target.NewServer(target.ServerOptions{Folder: root}), ReadHeaderTimeout: limits.Target}
	d.targetFolder, d.targetURL = root, "http://"+listener.Addr().String()
	go func() { _ = d.target.Serve(listener) }() // it ends with the demo
	return nil
}

// populate creates what a first request needs with the commands of an operator, so that
// the audit log is complete.
func (d *Demo) populate(ctx context.Context) error {
	operator := operate.New(d.store, operate.Options{Actor: "shell:demo", Sender: d.sender, Targets: d.targets})
	back := true
	if _, _, err := operator.SetTarget(ctx, demoTarget, operate.TargetChange{URL: &d.targetURL, TakesBack: &back}); err != nil {
		return err
	}
	name, to := "Demo Energy", demoTarget
	if _, err := operator.CreateSupplier(ctx, demoSupplier, operate.SupplierChange{Name: &name, Target: &to}); err != nil {
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
	link, err := operator.CreateOperator(ctx, DemoLogin, landfall.ConsoleAdministrator)
	if err != nil {
		return err
	}
	// Accept the invitation now, so that the user can sign in at once.
	d.login = "look-" + strings.ToLower(rand.Text()[:12])
	if _, err := d.sessions.Accept(ctx, auth.Origin{}, link.Reveal(), d.login); err != nil {
		return err
	}
	if _, d.key, err = operator.CreateKey(ctx, operate.KeyRequest{Organisation: demoOrganisation, Role: landfall.RoleImporter}); err != nil {
		return err
	}
	_, d.readerKey, err = operator.CreateKey(ctx, operate.KeyRequest{Organisation: demoOrganisation, Role: landfall.RoleReader})
	return err
}

//go:embed demo.sh
var tourScript string

// tourTemplate is filled with the address and the key of this demo, so that you can paste
// its output.
var tourTemplate = template.Must(template.New("tour").Parse(tourScript))

// Welcome returns the text that is printed at the start.
func (d *Demo) Welcome() string {
	return "Landfall is running at " + d.base + " with a temporary database.\n" +
		"Press Ctrl-C to stop it and delete all data.\n" +
		d.Console() + "\n" +
		"Open a second terminal and paste these lines into bash or zsh, one after the other.\n"
}

// Console returns the URL of the console and the login.
func (d *Demo) Console() string {
	return "The console is at " + d.base + "/console/. Sign in as " + DemoLogin + " with the password " + d.login
}

// Tour prints a shell script that you can paste line by line or as a whole. It has no
// comments, because zsh does not accept them interactively.
func (d *Demo) Tour(out io.Writer, program string) error {
	return tourTemplate.Execute(out, map[string]string{
		"Base": d.base, "Key": d.key.Reveal(), "Supplier": demoSupplier, "Team": demoTeam, "Vendor": demoVendor,
		"Program": Quote(program), "Database": Quote(d.settings.Database),
	})
}

// DemoInfo describes a demo.
type DemoInfo struct {
	Base, Key, Supplier, Team, Vendor string
	ReaderKey                         string // reads whole accounts
	Database                          string // for the operator's commands
	Folder                            string // deleted by Close
}

// Info returns the description of the demo.
func (d *Demo) Info() DemoInfo {
	return DemoInfo{d.base, d.key.Reveal(), demoSupplier, demoTeam, demoVendor, d.readerKey.Reveal(), d.settings.Database, d.folder}
}

// Close stops the demo and deletes its data.
func (d *Demo) Close() error {
	defer d.stopSignals()
	err := d.App.Close()
	if d.target != nil {
		err = errors.Join(err, d.target.Close(), d.targetFolder.Close())
	}
	return errors.Join(err, os.RemoveAll(d.folder))
}

// connectAddress returns an address to connect to, for a listener on all addresses.
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

// Quote quotes an argument of a shell command if necessary.
func Quote(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-", r)
	}) {
		return fmt.Sprintf("'%s'", strings.ReplaceAll(text, "'", `'\''`))
	}
	return text
}
