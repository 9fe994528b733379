package app

import "fmt"

// secretFile is a file with a secret that a setting names.
type secretFile struct{ setting, what, path string }

// secretFiles lists the files with secrets that are in use.
func (s Settings) secretFiles() []secretFile {
	var named []secretFile
	for _, file := range []secretFile{
		{"tls-key", "private key", s.TLS.Key},
		{"encryption-key-file", "encryption key", s.EncryptionKeyFile},
		{"audit-key-file", "audit key", s.AuditKeyFile},
		{"webhook-key-file", "webhook key", s.WebhookKeyFile},
		{"database-password-file", "database password", s.DatabasePasswordFile},
		{"smtp-password-file", "mail password", s.Mail.PasswordFile},
	} {
		if file.path != "" {
			named = append(named, file)
		}
	}
	return named
}

// checkSecretFiles refuses secrets that other users of the machine may read: they would be no
// secrets any more, and nothing else would say so.
func (s Settings) checkSecretFiles() error {
	for _, file := range s.secretFiles() {
		if readableByOthers(file.path) && !s.ReadableSecrets {
			return SettingError{fmt.Errorf("setting %s: other users can read %s: chmod 600 it, or allow this with allow-readable-secrets", file.setting, file.path)}
		}
	}
	return nil
}
