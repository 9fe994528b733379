package app

import (
	"github.com/spf13/pflag"

	"landfall/internal/store/engine"
)

// Effective is a setting as a server uses it. Passwords in Value are masked.
type Effective struct {
	Name   string
	Value  string
	Source string // "default", "flag --listen", "variable LANDFALL_LISTEN" or "landfall.yaml, line 3"
}

// DefaultSource is the source of a setting that was not set.
const DefaultSource = "default"

// masked replaces a secret.
const masked = "********"

// Explain returns every setting, its value and where it was set. Load must have accepted
// the settings.
func Explain(flags *pflag.FlagSet) ([]Effective, error) {
	all, _, err := gather(flags)
	if err != nil {
		return nil, err
	}
	settings, _ := apply(all)
	origins := map[string]string{}
	for _, given := range all {
		origins[given.name] = given.origin
	}
	var lines []Effective
	for _, declared := range settingTable {
		line := Effective{Name: declared.name, Value: declared.bind(&settings).text(), Source: origins[declared.name]}
		if line.Source == "" {
			line.Source = DefaultSource
		} else if declared.bind(&settings).kind() == secretKind {
			line.Value = masked
		}
		if line.Name == "database" {
			if name, err := engine.Parse(line.Value); err == nil {
				line.Value = name.Masked(masked)
			}
		}
		lines = append(lines, line)
	}
	return lines, nil
}
