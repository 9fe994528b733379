package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/outbound/filestore"
	"landfall/internal/outbound/payvendor"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlstore"
)

// Status is how bad a finding is.
type Status string

// The verdicts.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Problem Status = "problem"
)

// Diagnosis is one thing that was looked at.
type Diagnosis struct {
	Subject string
	Status  Status
	Finding string
	Advice  string // what to do; empty when all is well
}

// Check looks at what settings name without asking anybody: files, keys,
// templates.
func Check(settings Settings) (mistakes []error) {
	if settings.TLS.Certificate != "" {
		if _, err := newCredentials(settings.TLS, nil); err != nil {
			mistakes = append(mistakes, err)
		}
	}
	if _, err := settings.webhookKeys(); err != nil {
		mistakes = append(mistakes, err)
	}
	if _, err := settings.EncryptionKeys(); err != nil {
		mistakes = append(mistakes, err)
	}
	if _, err := filestore.Open(settings.Documents, filestore.Options{TimeLimit: settings.DocumentTimeout}); err != nil {
		mistakes = append(mistakes, fmt.Errorf("setting documents: %w", err))
	}
	if _, err := settings.Mail.Composer(); err != nil {
		mistakes = append(mistakes, err)
	}
	if _, err := settings.auditKey(); err != nil {
		mistakes = append(mistakes, err)
	}
	return mistakes
}

// doctor gathers what it finds.
type doctor struct {
	settings Settings
	report   func(Diagnosis)
}

// add tells a finding as soon as it is there: the next question may take
// seconds.
func (d *doctor) add(what string, verdict Status, finding, advice string) {
	d.report(Diagnosis{what, verdict, finding, advice})
}

// checkTimeout bounds every single question.
const checkTimeout = 15 * time.Second

// Examine looks at everything a server needs to run well, and tells of each
// thing as it goes. It changes nothing, and may run beside a server.
func Examine(ctx context.Context, settings Settings, told func(Diagnosis)) {
	d := &doctor{settings, told}
	if mistakes := Check(settings); len(mistakes) > 0 {
		for _, err := range mistakes {
			d.add("settings", Problem, err.Error(), "mend the setting; 'landfall config check' says whether it is right")
		}
	} else {
		d.add("settings", OK, "all of them can be used", "")
	}
	// What nobody has to be asked about comes first. A database or a mail server that
	// is away takes its time to say so.
	d.listener()
	d.port()
	d.certificate()
	d.secrets()
	d.file()
	d.folders()
	d.database(ctx)
	d.mail(ctx)
}

// listener looks at who could listen in.
func (d *doctor) listener() {
	host, _, _ := net.SplitHostPort(d.settings.Listen)
	if address := net.ParseIP(host); d.settings.TLS.Certificate == "" && (address == nil || !address.IsLoopback()) {
		d.add("listen", Warning, "the API is reached from beyond this machine without TLS",
			"set tls-certificate and tls-key, or listen on 127.0.0.1 behind a proxy that ends TLS")
		return
	}
	d.add("listen", OK, d.settings.Listen, "")
}

// expirySoon is when the end of a certificate is worth a word.
const expirySoon = 14 * day

// certificate looks whether the files fit together and how long they are
// good.
func (d *doctor) certificate() {
	if d.settings.TLS.Certificate == "" {
		return
	}
	shown, err := newCredentials(d.settings.TLS, nil)
	if err != nil {
		return // told among the settings
	}
	left := time.Until(shown.expiry())
	switch {
	case left < 0:
		d.add("certificate", Problem, "it ended on "+shown.expiry().Format(time.DateOnly), "renew it; callers refuse it")
	case left < expirySoon:
		d.add("certificate", Warning, "it ends on "+shown.expiry().Format(time.DateOnly), "renew it; a renewed one is read without a restart")
	default:
		d.add("certificate", OK, "good until "+shown.expiry().Format(time.DateOnly), "")
	}
}

// lowSpace is what a database should have to grow into, and noSpace what is
// gone with the next few writes.
const (
	lowSpace = 1 << 30
	noSpace  = 32 << 20
)

// file looks at where a SQLite database is.
func (d *doctor) file() {
	name, err := engine.Parse(d.settings.Database)
	if err != nil || name.File() == "" {
		return
	}
	folder := filepath.Dir(name.File())
	d.checkPrivate("database file", name.File())
	// Only writing tells whether one can: rights, read-only mounts and full disks
	// each say no in a way of their own.
	probe, err := os.CreateTemp(folder, ".landfall-doctor-*")
	if err != nil {
		d.add("database folder", Problem, "nothing can be written to it: "+err.Error(), "give the folder to the user the server runs as")
		return
	}
	_ = errors.Join(probe.Close(), os.Remove(probe.Name()))
	free, known := freeSpace(folder)
	switch {
	case !known:
	case free < noSpace:
		d.add("disk space", Problem, fmt.Sprintf("the disk where the database is has %d KiB left", free>>10), "make room at once: writes are refused when the disk is full")
	case free < lowSpace:
		d.add("disk space", Warning, fmt.Sprintf("%d MiB are free where the database is", free>>20), "make room: writes are refused when the disk is full")
	default:
		d.add("disk space", OK, fmt.Sprintf("%d GiB are free where the database is", free>>30), "")
	}
}

// database looks whether it answers, keeps what it promises and has the
// schema of this program.
func (d *doctor) database(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*checkTimeout)
	defer cancel()
	keys, err := d.settings.EncryptionKeys()
	if err != nil {
		return // told among the settings
	}
	options := sqlstore.Options{Keys: keys, Looks: true, AllowWeakDurability: d.settings.WeakDatabase, Connections: 2, SearchTerms: contract.SearchTerms}
	steps, err := sqlstore.SchemaStatus(ctx, d.settings.Database, options)
	if err != nil {
		d.add("database", Problem, err.Error(), "is it running, is the address right, does the user have the rights? 'landfall schema apply' makes a new one")
		return
	}
	missing := 0
	for _, step := range steps {
		if !step.Applied {
			missing++
		}
	}
	if missing > 0 {
		d.add("schema", Warning, fmt.Sprintf("%d of %d steps are missing", missing, len(steps)), "the next 'landfall serve' or 'landfall schema apply' brings it up to date; make a backup first")
		return
	}
	d.add("schema", OK, fmt.Sprintf("all %d steps are there", len(steps)), "")
	store, err := sqlstore.Open(ctx, d.settings.Database, options)
	if err != nil {
		d.add("database", Problem, err.Error(), "mend what it says; the server would refuse to start for it")
		return
	}
	defer func() { _ = store.Close() }() // what it wrote was committed
	if err := store.Ping(ctx); err != nil {
		d.add("database", Problem, "it cannot be written to: "+err.Error(), "is it a standby, is its disk full, does a synchronous standby not answer?")
		return
	}
	d.add("database", OK, d.settings.DatabaseName()+" takes writes", "")
	if err := store.AtHome(ctx); err != nil {
		d.add("database", Problem, err.Error(), "docs/backup.md says what to do before a copy is served")
	}
	d.clock(ctx, store)
	d.encryption(ctx, store)
	d.vendors(ctx, store)
}

// encryption says which keys are needed, and which are not any more.
func (d *doctor) encryption(ctx context.Context, store landfall.Store) {
	found, err := store.Encryption(ctx)
	switch {
	case err != nil:
		d.add("encryption", Problem, err.Error(), "")
	case found.WriteKey == "" && d.settings.EncryptionKey+d.settings.EncryptionKeyFile != "":
		d.add("encryption", Warning, "a key is set, and nothing is encrypted yet", "servers encrypt what they write from their next start on; 'landfall rekey' encrypts the rest")
	case found.WriteKey == "":
		d.add("encryption", OK, "what is personal is not encrypted in the database; see docs/encryption.md", "")
	case len(found.Keys) > 1 || found.HasPlaintext || found.Rekeying:
		d.add("encryption", Warning, "key "+found.WriteKey+" encrypts, and not everything is encrypted with it yet",
			"run 'landfall rekey'; until it is done no key may be dropped")
	default:
		d.add("encryption", OK, "everything is encrypted with key "+found.WriteKey+"; no other one is needed", "")
	}
}

// vendors asks every payment vendor about an instruction that cannot exist:
// that there is none is a good answer.
func (d *doctor) vendors(ctx context.Context, store landfall.Transactor) {
	var vendors []landfall.Vendor
	if err := store.View(ctx, func(view landfall.View) (err error) {
		vendors, err = view.Vendors(ctx)
		return err
	}); err != nil {
		d.add("vendors", Problem, err.Error(), "")
		return
	}
	verifier := payvendor.New(payvendor.Options{TimeLimit: d.settings.VendorTimeout, SecretVariables: d.settings.VendorSecrets})
	defer verifier.Close()
	for _, vendor := range vendors {
		_, err := verifier.Verify(ctx, "", vendor, landfall.Instruction{Reference: "landfall-doctor", Type: "DIRECT_DEBIT"})
		known, ours := errors.AsType[*landfall.Error](err)
		if err == nil || ours && (known.Code == landfall.CodeInstructionNotFound || known.Code == landfall.CodeInstructionTypeMismatch || known.Code == landfall.CodeInstructionInactive) {
			d.add("vendor "+vendor.Code, OK, "it answers and accepts our credentials", "")
			continue
		}
		finding := err.Error()
		if ours && known.Cause != nil {
			finding = known.Cause.Error()
		}
		d.add("vendor "+vendor.Code, Problem, finding, "check its secret in the environment of the server and the way to it; see docs/vendors.md")
	}
}

// mail talks to the mail server without sending anything.
func (d *doctor) mail(ctx context.Context) {
	if d.settings.Mail.Server == "" {
		d.add("mail server", OK, "none is set; no mails are sent", "")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	server, err := d.settings.Mail.client()
	if err == nil {
		session, trouble := server.Connect(ctx)
		if err = trouble; err == nil {
			session.Close()
			d.add("mail server", OK, d.settings.Mail.Server+" takes mail from us", "")
			return
		}
	}
	d.add("mail server", Problem, err.Error(), "check the settings smtp-…; 'landfall mail test' sends a letter")
}
