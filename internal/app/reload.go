package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"slices"
	"strings"

	"landfall/internal/outbound/delivery"
	"landfall/internal/store/engine"
)

// reloadable lists the settings whose changes a running server accepts. All others, and the
// encryption and audit keys, need a restart.
var reloadable = []string{
	"log-level", "concurrency-limit", "tls-certificate", "tls-key", "tls-client-ca", "webhook-key-file", "smtp-password-file",
}

// reloadState is what a reload compares with. Only one reload runs at a time.
type reloadState struct {
	settings Settings
	files    map[string][sha256.Size]byte // content of the secret files, by setting
}

func newReloadState(settings Settings) reloadState {
	// A password that is read for every new connection is no change of the address that it was put into.
	if name, err := engine.Parse(settings.Database); err == nil && settings.currentPassword() != nil {
		settings.Database = name.Masked("current")
	}
	state := reloadState{settings, map[string][sha256.Size]byte{}}
	for _, file := range settings.secretFiles() {
		// A file that cannot be read is reported where it is used.
		if content, err := os.ReadFile(file.path); err == nil {
			state.files[file.setting] = sha256.Sum256(content)
		}
	}
	return state
}

// differences returns the settings whose value, or the content of whose secret file, differs.
func (s reloadState) differences(other reloadState) (names []string) {
	for _, declared := range settingTable {
		if declared.bind(&s.settings).text() != declared.bind(&other.settings).text() || s.files[declared.name] != other.files[declared.name] {
			names = append(names, declared.name)
		}
	}
	return names
}

// ReloadOn reloads the settings at each request until the context ends.
func (a *App) ReloadOn(ctx context.Context, requests <-chan os.Signal, load func() (Settings, error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-requests:
		}
		settings, err := load()
		if err == nil {
			err = a.reload(settings)
		}
		if err != nil {
			a.log.Error("cannot reload the settings; the old ones stay in use", "error", err.Error())
		}
	}
}

// reload uses what can be changed while the server runs, and logs what needs a restart. If
// something is invalid, it changes nothing.
func (a *App) reload(settings Settings) error {
	if mistakes := append(Check(settings), settings.checkSecretFiles()); errors.Join(mistakes...) != nil {
		return errors.Join(mistakes...)
	}
	keys, err := settings.webhookKeys()
	if err != nil {
		return err
	}
	fresh := newReloadState(settings)
	var changed, restart []string
	for _, name := range a.reloaded.differences(fresh) {
		switch {
		// Turning TLS on or off needs another listener.
		case strings.HasPrefix(name, "tls-") && (a.main.tls == nil || settings.TLS.Certificate == ""),
			strings.HasPrefix(name, "smtp-") && a.mailClient == nil:
			restart = append(restart, name)
		case slices.Contains(reloadable, name):
			changed = append(changed, name)
		// The same file is read for every new connection.
		case name == "database-password-file" && settings.DatabasePasswordFile == a.reloaded.settings.DatabasePasswordFile:
			changed = append(changed, name)
		default:
			restart = append(restart, name)
		}
	}
	if a.main.tls != nil && settings.TLS.Certificate != "" {
		if err := a.main.tls.replace(settings.TLS); err != nil {
			return err
		}
	}
	for _, used := range []delivery.Keys{a.sender.Keys, a.targets.Keys} {
		used.Replace(keys)
	}
	if a.mailClient != nil && settings.Mail.Password != "" {
		a.mailClient.SetPassword(settings.Mail.Password)
	}
	if a.log.level != nil {
		a.log.level.Set(settings.LogLevel)
	}
	a.intake.SetServiceLimit(settings.ConcurrencyLimit)
	a.keepForRestart(&fresh, restart)
	a.reloaded = fresh
	a.log.Info("settings reloaded", "changed", strings.Join(changed, " "), "need_restart", strings.Join(restart, " "))
	return nil
}

// keepForRestart keeps the old state of settings that are not in use yet, so that the next
// reload names them again.
func (a *App) keepForRestart(fresh *reloadState, names []string) {
	for _, declared := range settingTable {
		if slices.Contains(names, declared.name) {
			// The text of a used setting is always valid.
			_ = declared.bind(&fresh.settings).set(declared.bind(&a.reloaded.settings).text())
			fresh.files[declared.name] = a.reloaded.files[declared.name]
		}
	}
}
