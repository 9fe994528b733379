package app

import "github.com/spf13/pflag"

// FlagNames lists the flags a command has, for guessing at mistyped ones.
func FlagNames(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return names
}
