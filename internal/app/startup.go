package app

import (
	"log/slog"
	"net"
	"strings"
)

// logStartup says at the start what runs here and where, and aloud what an
// operator would rather know now than from somebody else.
func (a *App) logStartup() {
	if a.settings.passwordInFlag {
		a.log.Warn("the database's password stands on the command line, where everybody on this machine can read it: " +
			"use database-password-file or " + variable("database-password"))
	}
	if len(a.settings.ignored) > 0 {
		a.log.Info("variables that Kubernetes sets for a Service are not taken for settings",
			"variables", strings.Join(a.settings.ignored, " "))
	}
	if most := a.main.listener.maxOpen; most < a.settings.MaxConnections {
		a.log.Info("file descriptors allow fewer connections than the setting", "max_connections", most)
	}
	fields := []any{slog.String("version", a.version), slog.String("database", a.settings.DatabaseName())}
	if a.ops != nil {
		a.warnAboutPlainText("ops-listen", a.ops.address(), "metrics and profiles are open to everybody who reaches it")
		fields = append(fields, slog.String("ops_address", a.ops.address().String()))
	}
	if a.mail != nil {
		fields = append(fields, slog.String("mail_server", a.settings.Mail.Server))
	}
	if a.main.tls != nil {
		fields = append(fields, slog.Bool("tls", true), slog.Time("certificate_ends", a.main.tls.expiry()))
	} else {
		a.warnAboutPlainText("listen", a.main.address(), "tokens and personal data travel readable unless a proxy in front of it ends TLS")
	}
	a.log.Info("listening", append(fields, slog.String("address", a.main.address().String()))...)
}

// warnAboutPlainText tells of a listener that others than this machine can reach.
func (a *App) warnAboutPlainText(setting string, address net.Addr, danger string) {
	if tcp, ok := address.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		a.log.Warn("listening without TLS beyond this machine: "+danger, "setting", setting, "address", address.String())
	}
}
