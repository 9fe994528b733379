package app

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"landfall/internal/lib/spelling"
)

const (
	envPrefix = "LANDFALL_"
	// configFlag names the optional file; it is where settings come from, not
	// one of them.
	configFlag = "config"
)

// AddFlags declares the named settings as flags, or all without names. Secrets
// are never flags: everybody on the machine can read a command line.
func AddFlags(flags *pflag.FlagSet, names ...string) {
	shown := Defaults()
	for _, declared := range settingTable {
		place := declared.bind(&shown)
		if place.kind() == secretKind || len(names) > 0 && !slices.Contains(names, declared.name) {
			continue
		}
		flag := flags.VarPF(&flagValue{place.text(), place.kind()}, declared.name, "", declared.usage)
		if place.kind() == "bool" {
			flag.NoOptDefVal = "true" // --introspection alone switches it on
		}
	}
	flags.String(configFlag, "", "YAML file with settings; flags and "+envPrefix+"… variables go before it")
}

// flagValue is a flag's value as it was typed. It is checked later with all others:
// the flag package would repeat a bad value in its message, password and all.
type flagValue struct{ text, kind string }

func (t *flagValue) Set(text string) error { t.text = text; return nil }
func (t *flagValue) String() string        { return t.text }
func (t *flagValue) Type() string          { return t.kind }

// assignment is a setting as somebody gave it, and where.
type assignment struct {
	name   string
	text   string
	origin string // for messages: "flag --listen", "landfall.yaml, line 3"
	file   bool   // it stands in the config file
	err    error  // what is wrong with it, whatever the name means
}

// Load reads the settings: a flag goes before its LANDFALL_… variable, and that
// before the config file. A setting nobody declared and a value out of bounds
// are refused, because a typing error that passes is found in production. All
// mistakes are told at once, each with its place, and none repeats a value,
// which may be a secret.
func Load(flags *pflag.FlagSet) (Settings, error) {
	path := os.Getenv(envPrefix + "CONFIG")
	if named, err := flags.GetString(configFlag); err == nil && named != "" {
		path = named
	}
	written, err := fromFile(path)
	if err != nil {
		return Settings{}, fmt.Errorf("config file: %w", err)
	}
	variables, ignored := fromEnvironment(os.Environ())
	// The order is that of precedence: of several, the last one counts.
	settings, mistakes := apply(slices.Concat(written, variables, fromFlags(flags)))
	settings.ignored = ignored
	settings.passwordInFlag = flags.Changed("database") && hasPassword(settings.Database)
	// A setting that was refused still has its default. What that and others say
	// together would only lead astray.
	if len(mistakes) == 0 {
		mistakes = settings.complete()
	}
	if len(mistakes) > 0 {
		return Settings{}, errors.Join(mistakes...)
	}
	return settings, nil
}

// apply puts what was given into place, the later over the earlier. A value
// that something else overrules is not looked at.
func apply(all []assignment) (settings Settings, mistakes []error) {
	settings = Defaults()
	last := map[string]int{}
	for i, given := range all {
		last[given.name] = i
	}
	for i, given := range all {
		at := slices.IndexFunc(settingTable, func(known setting) bool { return known.name == given.name })
		switch {
		case given.err != nil:
			mistakes = append(mistakes, settingError(given, given.err))
		case at < 0:
			mistakes = append(mistakes, unknownSetting(given))
		case last[given.name] == i:
			place := settingTable[at].bind(&settings)
			err := place.set(given.text)
			// Config files are copied, shown and kept in repositories.
			if given.file && place.kind() == secretKind {
				err = fmt.Errorf("a secret does not stand here: use the variable %s or %s-file", variable(given.name), given.name)
			}
			if err != nil {
				mistakes = append(mistakes, settingError(given, err))
			}
		}
	}
	return settings, mistakes
}

// settingError says what is wrong with a setting, and where it stands.
func settingError(given assignment, err error) error {
	return fmt.Errorf("setting %s: %w (%s)", given.name, err, given.origin)
}

// unknownSetting refuses a name nobody declared, and guesses what was meant.
func unknownSetting(given assignment) error {
	if meant := spelling.Near(given.name, settingNames()); len(meant) > 0 {
		return fmt.Errorf("unknown setting %q (%s): did you mean %s?", given.name, given.origin, meant[0])
	}
	return fmt.Errorf("unknown setting %q (%s); landfall serve --help lists them", given.name, given.origin)
}

// settingNames are what a mistyped name is compared with.
func settingNames() []string {
	names := make([]string, len(settingTable))
	for i, known := range settingTable {
		names[i] = known.name
	}
	return names
}

// fromFlags takes the flags the user typed, as far as they are settings.
func fromFlags(flags *pflag.FlagSet) (all []assignment) {
	flags.Visit(func(flag *pflag.Flag) {
		if _, ok := flag.Value.(*flagValue); ok {
			all = append(all, assignment{name: flag.Name, text: flag.Value.String(), origin: "flag --" + flag.Name})
		}
	})
	return all
}

// variable is the name of a setting in the environment.
func variable(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
