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
	// configFlag is the flag of the settings file. It is not a setting itself.
	configFlag = "config"
)

// AddFlags adds flags for the named settings, or for all without names. Secrets are never
// flags, because every user of the machine can read a command line.
func AddFlags(flags *pflag.FlagSet, names ...string) {
	shown := Defaults()
	for _, declared := range settingTable {
		place := declared.bind(&shown)
		if place.kind() == secretKind || len(names) > 0 && !slices.Contains(names, declared.name) {
			continue
		}
		flag := flags.VarPF(&flagValue{place.text(), place.kind()}, declared.name, "", declared.usage)
		if place.kind() == "bool" {
			flag.NoOptDefVal = "true" // --introspection alone turns it on
		}
	}
	flags.String(configFlag, "", "YAML file with settings; flags and "+envPrefix+"… variables override it")
}

// flagValue is an unparsed flag. It is parsed later with all other settings, because the flag
// package would repeat an invalid value, and it may be a password.
type flagValue struct{ text, kind string }

func (t *flagValue) Set(text string) error { t.text = text; return nil }
func (t *flagValue) String() string        { return t.text }
func (t *flagValue) Type() string          { return t.kind }

// assignment is a value of a setting and where it comes from.
type assignment struct {
	name   string
	text   string
	origin string // for messages: "flag --listen", "landfall.yaml, line 3"
	file   bool   // it comes from the config file
	err    error  // an error whatever the setting is
}

// Load reads the settings. A flag overrides its LANDFALL_… variable, which overrides the
// config file. Unknown settings and invalid values are errors. Load reports all errors
// together, each with its origin, and never repeats a value, which may be a secret.
func Load(flags *pflag.FlagSet) (Settings, error) {
	all, ignored, err := gather(flags)
	if err != nil {
		return Settings{}, err
	}
	settings, mistakes := apply(all)
	settings.ignored = ignored
	settings.passwordInFlag = flags.Changed("database") && hasPassword(settings.Database)
	// An invalid setting still has its default, so checks of combinations would mislead.
	if len(mistakes) == 0 {
		mistakes = settings.complete()
	}
	if len(mistakes) > 0 {
		return Settings{}, errors.Join(mistakes...)
	}
	return settings, nil
}

// gather returns all assignments in order of precedence: the last one wins.
func gather(flags *pflag.FlagSet) (all []assignment, ignored []string, err error) {
	path := os.Getenv(envPrefix + "CONFIG")
	if named, err := flags.GetString(configFlag); err == nil && named != "" {
		path = named
	}
	fileSettings, err := fromFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("config file: %w", err)
	}
	variables, ignored := fromEnvironment(os.Environ())
	return slices.Concat(fileSettings, variables, fromFlags(flags)), ignored, nil
}

// apply assigns the values; later ones override earlier ones. Overridden values are not
// checked.
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
			// Config files are copied and committed to repositories.
			if given.file && place.kind() == secretKind {
				err = fmt.Errorf("secrets are not allowed in the settings file; set %s or %s-file instead", variableFor(given.name), given.name)
			}
			if err != nil {
				mistakes = append(mistakes, settingError(given, err))
			}
		}
	}
	return settings, mistakes
}

func settingError(given assignment, err error) error {
	return fmt.Errorf("setting %s: %w (%s)", given.name, err, given.origin)
}

// unknownSetting returns an error with a suggestion.
func unknownSetting(given assignment) error {
	if meant := spelling.Near(given.name, settingNames()); len(meant) > 0 {
		return fmt.Errorf("unknown setting %q (%s): did you mean %s?", given.name, given.origin, meant[0])
	}
	return fmt.Errorf("unknown setting %q (%s); landfall serve --help lists them", given.name, given.origin)
}

func settingNames() []string {
	names := make([]string, len(settingTable))
	for i, known := range settingTable {
		names[i] = known.name
	}
	return names
}

// fromFlags returns the settings among the flags of the command line.
func fromFlags(flags *pflag.FlagSet) (all []assignment) {
	flags.Visit(func(flag *pflag.Flag) {
		if _, ok := flag.Value.(*flagValue); ok {
			all = append(all, assignment{name: flag.Name, text: flag.Value.String(), origin: "flag --" + flag.Name})
		}
	})
	return all
}

// variableFor returns the environment variable of a setting.
func variableFor(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
