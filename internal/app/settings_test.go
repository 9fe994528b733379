package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// load reads settings as the program would, from arguments, variables and the
// text of a config file.
func load(t *testing.T, arguments []string, variables map[string]string, config string) (Settings, error) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, envPrefix) && !isReserved(name) {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	for name, text := range variables {
		t.Setenv(name, text)
	}
	if config != "" {
		file := filepath.Join(t.TempDir(), "landfall.yaml")
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		arguments = append(arguments, "--config", file)
	}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	AddFlags(flags)
	if err := flags.Parse(arguments); err != nil {
		t.Fatal(err)
	}
	return Load(flags)
}

func TestSettingsOrder(t *testing.T) {
	config := "listen: 127.0.0.1:1\nmax-body: 1MiB\nidle-timeout: 5m\ndatabase-connections: 7\n"
	settings, err := load(t, []string{"--listen", "127.0.0.1:3"},
		map[string]string{"LANDFALL_LISTEN": "127.0.0.1:2", "LANDFALL_MAX_BODY": "2MiB", "LANDFALL_LOG_LEVEL": "warn"}, config)
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Listen, want.MaxBody, want.IdleTimeout, want.Connections, want.LogLevel = "127.0.0.1:3", 2<<20, 5*time.Minute, 7, slog.LevelWarn
	if !reflect.DeepEqual(settings, want) {
		t.Errorf("got  %+v\nwant %+v", settings, want)
	}
}

// Variables of the commands that connect to a server may be set for all commands in a shell. One of
// them was refused by every command that reads the settings.
func TestVariablesOfOtherCommandsAreNoSettings(t *testing.T) {
	for _, name := range []string{"LANDFALL_API_KEY", "LANDFALL_SERVER", "LANDFALL_PSEUDONYM_KEY"} {
		if _, err := load(t, nil, map[string]string{name: "x"}, ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		arguments []string
		variables map[string]string
		config    string
		want      string
	}{
		"unknown variable":      {variables: map[string]string{"LANDFALL_LISTN": "x"}, want: `unknown setting "listn" (variable LANDFALL_LISTN): did you mean listen?`},
		"unlike any variable":   {variables: map[string]string{"LANDFALL_SAILS": "x"}, want: `unknown setting "sails" (variable LANDFALL_SAILS); landfall serve --help lists them`},
		"unknown in the file":   {config: "log-level: info\nlistn: x", want: `landfall.yaml, line 2): did you mean listen?`},
		"nested in the file":    {config: "log:\n  level: x", want: "setting log: settings are not nested: did you mean log-level? ("},
		"nested and unlike any": {config: "ship:\n  sails: x", want: "setting ship: settings are not nested ("},
		"twice in the file":     {config: "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2", want: "listen is already in line 1"},
		"wrong in the file":     {config: "\nlog-level: loud", want: "landfall.yaml, line 2)"},
		"a list in the file":    {config: "- listen", want: "landfall.yaml, line 1: want lines such as"},
		"two documents":         {config: "listen: 127.0.0.1:1\n---\n", want: "more than one document"},
		"broken file":           {config: "listen: [", want: "config file"},
		"address":               {arguments: []string{"--listen", "8080"}, want: "setting listen: want an address such as 127.0.0.1:8080 (flag --listen)"},
		"size":                  {arguments: []string{"--max-body", "10 GB"}, want: "setting max-body: want a size from 1KiB to 1GiB (flag --max-body)"},
		"eternal token":         {arguments: []string{"--access-token-life", "30d"}, want: "want a duration from 1m to 1d"},
		"level":                 {arguments: []string{"--log-level", "loud"}, want: "want debug, info, warn or error"},
		"memory":                {arguments: []string{"--memory-limit", "much"}, want: "want auto, off or a size from 64MiB to 1024GiB"},
		"proxies":               {arguments: []string{"--trusted-proxies", "everybody"}, want: "want addresses or networks"},
		"database":              {variables: map[string]string{"LANDFALL_DATABASE": "mysql://u:hunter2@h/d"}, want: "setting database: mysql is not a supported kind of database"},
		"database flag":         {arguments: []string{"--database", "mysql://u:hunter2@h/d"}, want: "setting database: mysql is not a supported kind of database"},
		"no sender":             {arguments: []string{"--smtp-server", "mail.example.com"}, want: "setting mail-from: required with smtp-server"},
		"mail unprotected":      {arguments: []string{"--smtp-server", "mail.example.com", "--smtp-tls", "none", "--mail-from", "a@b.co"}, want: "must be on this machine"},
		"a password unprotected": {
			arguments: []string{"--smtp-server", "localhost", "--smtp-tls", "none", "--mail-from", "a@b.co", "--smtp-user", "u"},
			variables: map[string]string{"LANDFALL_SMTP_PASSWORD": "hunter2"}, want: "a login requires TLS",
		},
		"a user without": {arguments: []string{"--smtp-server", "mail.example.com", "--mail-from", "a@b.co", "--smtp-user", "u"}, want: "a login needs both a user and a password"},
		"two passwords": {
			arguments: []string{"--smtp-password-file", "x"}, variables: map[string]string{"LANDFALL_SMTP_PASSWORD": "hunter2"}, want: "set either smtp-password or smtp-password-file, not both",
		},
		"a secret in the file": {config: "smtp-password: hunter2", want: "secrets are not allowed in the settings file; set LANDFALL_SMTP_PASSWORD or smtp-password-file instead"},
		"no password in it":    {arguments: []string{"--smtp-password-file", "/dev/null"}, want: "setting smtp-password-file: /dev/null"},
		"mail server":          {arguments: []string{"--smtp-server", "smtp://mail"}, want: "want a mail server such as smtp.example.com"},
		"a sender of many":     {arguments: []string{"--mail-from", "a@b.co, c@d.co"}, want: "setting mail-from: want an address such as"},
		"certificates": {
			arguments: []string{"--smtp-server", "mail.example.com", "--mail-from", "a@b.co", "--smtp-ca-file", "/dev/null"}, want: "/dev/null contains no certificate",
		},
		"misspelled in the URL": {variables: map[string]string{"LANDFALL_DATABASE": "postgres://u:hunter2@h/d?sslmod=verify-full"},
			want: "the PostgreSQL URL has the unknown setting sslmod: did you mean sslmode?"},
		"a missing file in the URL": {variables: map[string]string{"LANDFALL_DATABASE": "postgres://u:hunter2@h/d?sslmode=verify-full&sslrootcert=/missing/ca.pem"},
			want: "names the file /missing/ca.pem, which cannot be read: no such file or directory"},
		"a person's port": {variables: map[string]string{"LANDFALL_PORT": "8080"}, want: `unknown setting "port"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, test.arguments, test.variables, test.config)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the message shows a password: %v", err)
			}
		})
	}
}

// Mistakes used to be reported one at a time, one per start.
func TestAllMistakesAreReportedAtOnce(t *testing.T) {
	_, err := load(t, []string{"--max-body", "much"}, map[string]string{"LANDFALL_LISTN": "x"}, "log-level: loud\nread-timeout: 1y\n")
	if err == nil {
		t.Fatal("nothing was refused")
	}
	for _, want := range []string{"flag --max-body", "variable LANDFALL_LISTN", "line 1", "line 2"} {
		if strings.Count(err.Error(), want) != 1 {
			t.Errorf("%q is not reported once:\n%v", want, err)
		}
	}
}

// An overridden value is not checked: a flag fixes a wrong value in a file.
func TestFlagOverridesInvalidFileLine(t *testing.T) {
	settings, err := load(t, []string{"--log-level", "warn"}, nil, "log-level: loud")
	if err != nil || settings.LogLevel != slog.LevelWarn {
		t.Errorf("got %v, %v", settings.LogLevel, err)
	}
}

func TestListsInTheFile(t *testing.T) {
	settings, err := load(t, nil, nil, "trusted-proxies:\n  - 10.0.0.7\n  - 192.168.0.0/16\n")
	if err != nil || settings.Proxies.String() != "10.0.0.7/32,192.168.0.0/16" {
		t.Errorf("got %s, %v", settings.Proxies, err)
	}
}

// In Kubernetes, a Service named landfall adds these variables to the
// environment, and the program used to refuse to start.
func TestVariablesOfAKubernetesServiceAreNoSettings(t *testing.T) {
	variables := map[string]string{
		"LANDFALL_SERVICE_HOST": "10.96.0.17", "LANDFALL_SERVICE_PORT": "8080", "LANDFALL_SERVICE_PORT_HTTP": "8080",
		"LANDFALL_PORT": "tcp://10.96.0.17:8080", "LANDFALL_PORT_8080_TCP": "tcp://10.96.0.17:8080",
		"LANDFALL_PORT_8080_TCP_PROTO": "tcp", "LANDFALL_PORT_8080_TCP_PORT": "8080", "LANDFALL_PORT_8080_TCP_ADDR": "10.96.0.17",
		"LANDFALL_OPS_SERVICE_HOST": "fd00::17", "LANDFALL_OPS_PORT": "tcp://[fd00::17]:9090", "LANDFALL_LOG_LEVEL": "warn",
	}
	settings, err := load(t, nil, variables, "")
	if err != nil {
		t.Fatal(err)
	}
	if settings.LogLevel != slog.LevelWarn || len(settings.ignored) != len(variables)-1 {
		t.Errorf("level %s, ignored %q", settings.LogLevel, settings.ignored)
	}
}

// Ignoring injected variables must never hide one of our settings.
func TestNoSettingLooksInjected(t *testing.T) {
	for _, name := range settingNames() {
		for _, text := range []string{"", "8080", "tcp://10.0.0.1:8080", "10.0.0.1"} {
			if isKubernetesVariable(variableFor(name), text) {
				t.Errorf("%s=%s is taken for a variable of Kubernetes", variableFor(name), text)
			}
		}
	}
}

func TestDurationsAndSizesReadBack(t *testing.T) {
	for _, declared := range settingTable {
		var settings Settings
		place := declared.bind(&settings)
		place.reset()
		written := place.text()
		if err := place.set(written); err != nil || place.text() != written {
			t.Errorf("%s: default %q reads back as %q, %v", declared.name, written, place.text(), err)
		}
	}
}

// The files that operators copy must be valid, and the server must accept all common settings
// of PostgreSQL sessions.
func TestShippedSettingsAreValid(t *testing.T) {
	text, err := os.ReadFile("../../deploy/landfall.yaml")
	if err != nil {
		t.Fatal(err)
	}
	settings, err := load(t, nil, nil, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if mistakes := Check(settings); len(mistakes) > 0 {
		t.Error(mistakes)
	}
	for _, parameter := range []string{"application_name=x", "search_path=x", "statement_timeout=5", "lock_timeout=5", "options=-c%20geqo%3Doff", "TimeZone=UTC", "role=x", "work_mem=1MB", "idle_session_timeout=1"} {
		if _, err := load(t, []string{"--database", "postgres://h/d?" + parameter}, nil, ""); err != nil {
			t.Errorf("%s: %v", parameter, err)
		}
	}
}

func TestExplainMasksSecrets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "landfall.yaml")
	if err := os.WriteFile(file, []byte("\nmax-body: 2MiB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for database, want := range map[string]string{
		"postgres://u:hunter2@h/d?sslmode=require":        "postgres://u:********@h/d?sslmode=require",
		"postgres://h/d?password=hunter2&sslmode=disable": "postgres://h/d?password=********&sslmode=disable",
		"host=h password='hunter2 x' dbname=d":            "host=h password=******** dbname=d",
		"sqlite:x.db":                                     "sqlite:x.db",
	} {
		t.Setenv("LANDFALL_WEBHOOK_KEY", strings.Repeat("hunter2", 5))
		t.Setenv("LANDFALL_DATABASE", database)
		flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
		AddFlags(flags)
		if err := flags.Parse([]string{"--listen", "127.0.0.1:1", "--config", file}); err != nil {
			t.Fatal(err)
		}
		lines, err := Explain(flags)
		if err != nil || len(lines) != len(settingTable) {
			t.Fatalf("%d lines, %v", len(lines), err)
		}
		found := map[string]Effective{}
		for _, line := range lines {
			found[line.Name] = line
			if strings.Contains(line.Value, "hunter2") {
				t.Errorf("%s is shown: %s", line.Name, line.Value)
			}
		}
		for _, wanted := range []Effective{
			{"database", want, "variable LANDFALL_DATABASE"}, {"listen", "127.0.0.1:1", "flag --listen"},
			{"max-body", "2MiB", file + ", line 2"}, {"webhook-key", "********", "variable LANDFALL_WEBHOOK_KEY"}, {"log-level", "info", "default"},
		} {
			if found[wanted.Name] != wanted {
				t.Errorf("got %+v, want %+v", found[wanted.Name], wanted)
			}
		}
	}
}
