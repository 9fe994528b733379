package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/outbound/filestore"
	"landfall/internal/outbound/payvendor"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlstore"
)

// Status is the result of a check.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Problem Status = "problem"
)

// Diagnosis is the result of one check.
type Diagnosis struct {
	Subject string
	Status  Status
	Finding string
	Advice  string // what to do; empty when it is OK
}

// Check validates files, keys and templates in the settings without connecting to
// anything.
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

// doctor runs the checks.
type doctor struct {
	settings Settings
	report   func(Diagnosis)
}

// add reports a diagnosis immediately, because the next check may take seconds.
func (d *doctor) add(what string, verdict Status, finding, advice string) {
	// The text of several errors has a line for each.
	d.report(Diagnosis{what, verdict, strings.ReplaceAll(finding, "\n", "; "), advice})
}

// checkTimeout limits one check.
const checkTimeout = 15 * time.Second

// Examine checks everything that a server needs and reports each result as it goes. It
// changes nothing and may run next to a server.
func Examine(ctx context.Context, settings Settings, received func(Diagnosis)) {
	d := &doctor{settings, received}
	if mistakes := Check(settings); len(mistakes) > 0 {
		for _, err := range mistakes {
			d.add("settings", Problem, err.Error(), "fix the setting and run 'landfall config check'")
		}
	} else {
		d.add("settings", OK, "all settings are valid", "")
	}
	// Local checks come first, because an unavailable database or mail server takes
	// time.
	d.listener()
	d.port()
	d.certificate()
	d.secrets()
	d.file()
	d.folders()
	d.database(ctx)
	d.mail(ctx)
}

// listener checks that other machines reach the API only over TLS.
func (d *doctor) listener() {
	host, _, _ := net.SplitHostPort(d.settings.Listen)
	if address := net.ParseIP(host); d.settings.TLS.Certificate == "" && (address == nil || !address.IsLoopback()) {
		d.add("listen", Warning, "other machines can reach the API without TLS",
			"set tls-certificate and tls-key, or listen on 127.0.0.1 behind a proxy that terminates TLS")
		return
	}
	d.add("listen", OK, d.settings.Listen, "")
}

// expirySoon is when a certificate that expires is worth a warning.
const expirySoon = 14 * day

// certificate checks when the certificate expires.
func (d *doctor) certificate() {
	if d.settings.TLS.Certificate == "" {
		return
	}
	shown, err := newCredentials(d.settings.TLS, nil)
	if err != nil {
		return // reported with the settings
	}
	left := time.Until(shown.expiry())
	switch {
	case left < 0:
		d.add("certificate", Problem, "it expired on "+shown.expiry().Format(time.DateOnly), "renew it; clients reject it")
	case left < expirySoon:
		d.add("certificate", Warning, "it expires on "+shown.expiry().Format(time.DateOnly), "renew it; no restart is needed")
	default:
		d.add("certificate", OK, "valid until "+shown.expiry().Format(time.DateOnly), "")
	}
}

// lowSpace is a warning, noSpace a problem.
const (
	lowSpace = 1 << 30
	noSpace  = 32 << 20
)

// file checks the folder of a SQLite database.
func (d *doctor) file() {
	name, err := engine.Parse(d.settings.Database)
	if err != nil || name.File() == "" {
		return
	}
	folder := filepath.Dir(name.File())
	if readableByOthers(name.File()) {
		d.add("database file", Warning, "other users can read it", "chmod 600 "+name.File())
	}
	// Only a write shows whether the folder is writable: permissions, read-only mounts and
	// full disks fail in different ways.
	probe, err := os.CreateTemp(folder, ".landfall-doctor-*")
	if err != nil {
		d.add("database folder", Problem, "cannot write to it: "+err.Error(), "make the folder writable for the user of the server")
		return
	}
	_ = errors.Join(probe.Close(), os.Remove(probe.Name()))
	free, _, known := DiskSpace(folder)
	switch {
	case !known:
	case free < noSpace:
		d.add("disk space", Problem, fmt.Sprintf("only %d KiB are free on the disk of the database", free>>10), "free space now: writes fail when the disk is full")
	case free < lowSpace:
		d.add("disk space", Warning, fmt.Sprintf("%d MiB are free on the disk of the database", free>>20), "free space: writes fail when the disk is full")
	default:
		d.add("disk space", OK, fmt.Sprintf("%d GiB are free on the disk of the database", free>>30), "")
	}
}

// database checks that the database is available, durable and has the right schema.
func (d *doctor) database(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*checkTimeout)
	defer cancel()
	keys, err := d.settings.EncryptionKeys()
	if err != nil {
		return // reported with the settings
	}
	options := sqlstore.Options{Keys: keys, ReadOnly: true, AllowWeakDurability: d.settings.WeakDatabase, Connections: 2,
		SearchTerms: contract.SearchTerms, WithoutNames: !d.settings.EncryptedNames}
	steps, err := sqlstore.SchemaStatus(ctx, d.settings.Database, options)
	if err != nil {
		remedy := "check that it is running, the address and the user's permissions"
		if strings.HasPrefix(d.settings.Database, "sqlite:") {
			remedy = "check the path and the user's permissions; 'landfall schema apply' creates a new database"
		}
		d.add("database", Problem, err.Error(), remedy)
		return
	}
	missing := 0
	for _, step := range steps {
		if !step.Applied {
			missing++
		}
	}
	if missing > 0 {
		d.add("schema", Warning, fmt.Sprintf("%d of %d schema steps are missing", missing, len(steps)), "make a backup, then run 'landfall schema apply' or start the server")
		return
	}
	d.add("schema", OK, fmt.Sprintf("all %d schema steps are applied", len(steps)), "")
	store, err := sqlstore.Open(ctx, d.settings.Database, options)
	if err != nil {
		d.add("database", Problem, err.Error(), "fix this; the server would not start")
		return
	}
	defer func() { _ = store.Close() }() // writes were committed
	if err := store.Ping(ctx); err != nil {
		remedy := "check whether it is a standby, its disk is full, or a synchronous standby does not respond"
		if errors.Is(err, landfall.ErrDiskFull) {
			remedy = "free space on the disk of the database"
		}
		d.add("database", Problem, "cannot write to it: "+err.Error(), remedy)
		return
	}
	d.add("database", OK, d.settings.DatabaseName()+" is writable", "")
	if err := store.CheckServable(ctx); err != nil {
		d.add("database", Problem, err.Error(), "see docs/backup.md before you serve a copy")
	}
	d.clock(ctx, store)
	d.encryption(ctx, store)
	d.unreadable(ctx, store)
	d.scrub(ctx, store)
	d.vendors(ctx, store)
}

// encryption checks which keys are still needed.
func (d *doctor) encryption(ctx context.Context, store *sqlstore.Store) {
	found, err := store.Encryption(ctx)
	switch {
	case err != nil:
		d.add("encryption", Problem, err.Error(), "")
	case found.WriteKey == "" && d.settings.EncryptionKey+d.settings.EncryptionKeyFile != "":
		d.add("encryption", Warning, "a key is set, but nothing is encrypted yet", "restart the servers to encrypt new data, then run 'landfall rekey' to encrypt the rest")
	case found.WriteKey == "":
		d.add("encryption", OK, "personal data is not encrypted; see docs/encryption.md", "")
	case len(found.Keys) > 1 || found.HasPlaintext || found.Rekeying:
		d.add("encryption", Warning, "key "+found.WriteKey+" is in use, but not everything is encrypted with it yet",
			"run 'landfall rekey'; keep all keys until it is done")
	default:
		d.add("encryption", OK, "everything is encrypted with key "+found.WriteKey+"; no other key is needed", "")
	}
	if err == nil && found.WriteKey != "" {
		d.sealed(ctx, store)
	}
}

// scrub reports what servers found when they checked the stored data.
func (d *doctor) scrub(ctx context.Context, store landfall.Transactor) {
	var found landfall.ScrubStatus
	err := store.View(ctx, func(view landfall.View) (err error) {
		found, err = view.ScrubStatus(ctx)
		return err
	})
	ended := "no server has checked all stored data yet"
	if !found.EndedAt.IsZero() {
		ended = "all stored data was last checked on " + found.EndedAt.UTC().Format(time.RFC3339)
	}
	switch {
	case err != nil:
		d.add("stored data", Problem, err.Error(), "")
	case found.Findings > 0:
		one := found.Examples[0]
		d.add("stored data", Problem, fmt.Sprintf("%d findings, such as %s %s: %s", found.Findings, one.Key.Supplier, one.Key.External, one.What),
			"run 'landfall verify', and see docs/alarms.md#landfalldatadamaged")
	default:
		d.add("stored data", OK, ended, "")
	}
}

// sealedRows is how many rows of each table the doctor looks at.
const sealedRows = 2000

// sealed opens encrypted values, as far as that is quick.
func (d *doctor) sealed(ctx context.Context, store *sqlstore.Store) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found, all, err := store.InspectSealed(ctx, sealedRows)
	switch {
	case len(found) > 0:
		d.add("encrypted values", Problem, fmt.Sprintf("%d values cannot be trusted, such as %s", len(found), found[0].What),
			"someone changed the database, or a server without the key wrote to it; 'landfall verify' names all of them")
	case err != nil:
		d.add("encrypted values", Warning, err.Error(), "run 'landfall verify'")
	case !all:
		d.add("encrypted values", OK, fmt.Sprintf("the first %d rows of each table are genuine; 'landfall verify' checks all", sealedRows), "")
	default:
		d.add("encrypted values", OK, "all of them are genuine", "")
	}
}

// shownUnreadable is how many unreadable rows are named.
const shownUnreadable = 20

// unreadable names the rows that the last purge could not read.
func (d *doctor) unreadable(ctx context.Context, store landfall.Transactor) {
	var rows []landfall.UnreadableRow
	err := store.View(ctx, func(view landfall.View) (err error) {
		rows, err = view.UnreadableRows(ctx, shownUnreadable)
		return err
	})
	if err != nil {
		d.add("retention", Problem, err.Error(), "")
		return
	}
	if len(rows) == 0 {
		return
	}
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = fmt.Sprintf("%s/%s (%s)", row.Key.Supplier, row.Key.External, row.Location)
	}
	d.add("retention", Problem, "the last purge could not read: "+strings.Join(names, ", "),
		"these rows are kept past their retention; run 'landfall verify', check the encryption keys, or erase the accounts")
}

// vendors queries every payment vendor for an instruction that does not exist; "not found"
// means that it works.
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
			d.add("vendor "+vendor.Code, OK, "it responds and accepts our credentials", "")
			continue
		}
		finding := err.Error()
		if ours && known.Cause != nil {
			finding = known.Cause.Error()
		}
		d.add("vendor "+vendor.Code, Problem, finding, "check its secret in the environment of the server and the network; see docs/vendors.md")
	}
}

// mail connects to the mail server without sending anything.
func (d *doctor) mail(ctx context.Context) {
	if d.settings.Mail.Server == "" {
		d.add("mail server", OK, "not configured; no e-mails are sent", "")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	server, err := d.settings.Mail.client()
	if err == nil {
		session, connectErr := server.Connect(ctx)
		if err = connectErr; err == nil {
			session.Close()
			d.add("mail server", OK, d.settings.Mail.Server+" accepts our connection", "")
			return
		}
	}
	d.add("mail server", Problem, err.Error(), "check the settings smtp-…; 'landfall mail test' sends a test e-mail")
}
