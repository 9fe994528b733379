package app

import "github.com/spf13/pflag"

// FlagNames lists the flags of a command, to suggest one for a mistyped flag.
func FlagNames(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return names
}
