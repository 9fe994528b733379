package app

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

const (
	prefix = "LANDFALL_"
	// configFlag names the optional file; it is where settings come from, not
	// one of them.
	configFlag = "config"
)

// foreign are variables with our prefix that are not settings of the program.
func foreign(variable string) bool {
	return variable == prefix+"API_KEY" || strings.HasPrefix(variable, prefix+"TEST_")
}

// AddFlags declares the named settings as flags, or all without names.
func AddFlags(flags *pflag.FlagSet, names ...string) {
	shown := Defaults()
	for _, declared := range declared {
		if len(names) == 0 || slices.Contains(names, declared.name) {
			place := declared.bind(&shown)
			flag := flags.VarPF(&typed{place.text(), place.kind()}, declared.name, "", declared.usage)
			if place.kind() == "bool" {
				flag.NoOptDefVal = "true" // --introspection alone switches it on
			}
		}
	}
	flags.String(configFlag, "", "YAML file with settings; flags and "+prefix+"… variables go before it")
}

// typed is a flag's value as it was typed. It is checked later with all others:
// the flag package would repeat a bad value in its message, password and all.
type typed struct{ text, kind string }

func (t *typed) Set(text string) error { t.text = text; return nil }
func (t *typed) String() string        { return t.text }
func (t *typed) Type() string          { return t.kind }

// Load reads the settings: a flag goes before its LANDFALL_… variable, and that
// before the config file. A setting nobody declared and a value out of bounds
// are refused, because a typing error that passes is found in production.
func Load(flags *pflag.FlagSet) (Settings, error) {
	layers := koanf.New("\x00") // no nesting: every key is one name
	path := os.Getenv(prefix + "CONFIG")
	if given, err := flags.GetString(configFlag); err == nil && given != "" {
		path = given
	}
	if path != "" {
		if err := layers.Load(file.Provider(path), yaml.Parser()); err != nil {
			return Settings{}, fmt.Errorf("config file: %w", err)
		}
	}
	if err := layers.Load(env.Provider("\x00", env.Opt{Prefix: prefix, TransformFunc: fromVariable}), nil); err != nil {
		return Settings{}, fmt.Errorf("environment: %w", err)
	}
	if err := layers.Load(posflag.ProviderWithFlag(flags, "\x00", layers, fromFlag), nil); err != nil {
		return Settings{}, fmt.Errorf("flags: %w", err)
	}
	return read(layers)
}

func read(layers *koanf.Koanf) (Settings, error) {
	settings := Defaults()
	for _, name := range layers.Keys() {
		at := slices.IndexFunc(declared, func(known setting) bool { return known.name == name })
		if at < 0 {
			return Settings{}, fmt.Errorf("unknown setting %q; landfall serve --help lists them", name)
		}
		if err := declared[at].bind(&settings).set(layers.String(name)); err != nil {
			return Settings{}, fmt.Errorf("setting %s: %w", name, err)
		}
	}
	return settings, nil
}

func fromVariable(variable, text string) (string, any) {
	if foreign(variable) || variable == prefix+"CONFIG" {
		return "", nil
	}
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, prefix)), "_", "-"), text
}

// fromFlag takes the flags the user typed, as far as they are settings.
func fromFlag(flag *pflag.Flag) (string, any) {
	if _, ok := flag.Value.(*typed); !ok || !flag.Changed {
		return "", nil
	}
	return flag.Name, flag.Value.String()
}
