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
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, prefix) && !foreign(name) {
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
		map[string]string{"LANDFALL_LISTEN": "127.0.0.1:2", "LANDFALL_MAX_BODY": "2MiB", "LANDFALL_LOG_LEVEL": "warn", "LANDFALL_API_KEY": "lf_x"}, config)
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Listen, want.MaxBody, want.IdleTimeout, want.Connections, want.LogLevel = "127.0.0.1:3", 2<<20, 5*time.Minute, 7, slog.LevelWarn
	if !reflect.DeepEqual(settings, want) {
		t.Errorf("got  %+v\nwant %+v", settings, want)
	}
}

func TestSettingsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		arguments []string
		variables map[string]string
		config    string
		want      string
	}{
		"unknown variable":    {variables: map[string]string{"LANDFALL_LISTN": "x"}, want: `unknown setting "listn"`},
		"unknown in the file": {config: "listn: x", want: `unknown setting "listn"`},
		"nested in the file":  {config: "database:\n  url: x", want: "unknown setting"},
		"broken file":         {config: "listen: [", want: "config file"},
		"address":             {arguments: []string{"--listen", "8080"}, want: "setting listen: want an address"},
		"size":                {arguments: []string{"--max-body", "10 GB"}, want: "setting max-body: want a size from 1KiB to 1GiB"},
		"eternal token":       {arguments: []string{"--access-token-life", "30d"}, want: "setting access-token-life: want a duration from 1m to 1d"},
		"level":               {arguments: []string{"--log-level", "loud"}, want: "want debug, info, warn or error"},
		"database":            {variables: map[string]string{"LANDFALL_DATABASE": "mysql://u:hunter2@h/d"}, want: "setting database: want sqlite:FILE or"},
		"database flag":       {arguments: []string{"--database", "mysql://u:hunter2@h/d"}, want: "setting database: want sqlite:FILE or"},
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

func TestMask(t *testing.T) {
	for given, want := range map[string]string{
		"sqlite:landfall.db":                        "sqlite:landfall.db",
		"postgres://u:hunter2@h:5432/d":             "postgres://u:***@h:5432/d",
		"postgres://u:hu@nter2@h/d?sslmode=disable": "postgres://u:***@h/d?sslmode=disable",
		"postgres://h/d?user=u&password=hunter2":    "postgres://h/d?user=u&password=***",
		"postgres://h/d?sslpassword=hunter2&a=b":    "postgres://h/d?sslpassword=***&a=b",
	} {
		if got := Mask(given); got != want {
			t.Errorf("Mask(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestDurationsAndSizesReadBack(t *testing.T) {
	for _, declared := range declared {
		var settings Settings
		place := declared.bind(&settings)
		place.reset()
		written := place.text()
		if err := place.set(written); err != nil || place.text() != written {
			t.Errorf("%s: default %q reads back as %q, %v", declared.name, written, place.text(), err)
		}
	}
}
