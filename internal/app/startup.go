package app

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"strings"

	"landfall/internal/console"
)

// logStartup logs the version and addresses, and warns about risky settings.
func (a *App) logStartup() {
	if a.settings.passwordInFlag {
		a.log.Warn("the command line contains the database password, which every user of this machine can read",
			"use_instead", "database-password-file or "+variableFor("database-password"))
	}
	if len(a.settings.ignored) > 0 {
		a.log.Info("ignoring environment variables that Kubernetes sets for a Service",
			"variables", strings.Join(a.settings.ignored, " "))
	}
	if limit := a.main.listener.maxOpen; limit < a.settings.MaxConnections {
		a.log.Info("max-connections reduced to the available file descriptors", "max_connections", limit)
	}
	fields := []any{slog.String("version", a.version), slog.String("database", a.settings.DatabaseName())}
	if a.ops != nil {
		a.warnAboutPlainText("ops-listen", a.ops.address(), "everyone who can reach it can read metrics and profiles")
		fields = append(fields, slog.String("ops_address", a.ops.address().String()))
	}
	if a.mail != nil {
		fields = append(fields, slog.String("mail_server", a.settings.Mail.Server))
	}
	if a.main.tls != nil {
		fields = append(fields, slog.Bool("tls", true), slog.Time("certificate_expires", a.main.tls.expiry()))
	} else {
		a.warnAboutPlainText("listen", a.main.address(), "tokens and personal data are not encrypted unless a proxy in front of it terminates TLS")
	}
	a.log.Info("listening", append(fields, slog.String("address", a.main.address().String()))...)
}

// offerSetUp logs a link that creates the first operator of the console, while there is
// none. Without it somebody would have to use the command line on the server.
func (a *App) offerSetUp(ctx context.Context) {
	if a.console == nil {
		return
	}
	needed, err := a.sessions.NeedsSetUp(ctx)
	if err != nil || !needed {
		return // the console says what is wrong with the database
	}
	link, err := a.sessions.OfferSetUp(ctx)
	switch {
	case ctx.Err() != nil:
		return // the server is stopped already
	case err != nil:
		a.log.Warn("cannot make a set-up link; restart the server, or use: landfall operator create", "error", err)
		return
	}
	a.log.Info("nobody can sign in to the console yet; open the link once, within 24 hours, to create the first administrator",
		"link", a.publicAddress()+console.SetUpPath(link.Reveal()))
}

// publicAddress is the address of the service for people.
func (a *App) publicAddress() string {
	if a.settings.BaseURL != "" {
		return a.settings.BaseURL
	}
	scheme, host, port := "http", "localhost", ""
	if a.main.tls != nil {
		scheme = "https"
	}
	if tcp, ok := a.main.address().(*net.TCPAddr); ok {
		port = strconv.Itoa(tcp.Port)
		if !tcp.IP.IsUnspecified() {
			host = tcp.IP.String()
		}
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

func (a *App) warnAboutPlainText(settingName string, address net.Addr, danger string) {
	if tcp, ok := address.(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		a.log.Warn("listening without TLS on an address that other machines can reach", "setting", settingName, "address", address.String(), "risk", danger)
	}
}
