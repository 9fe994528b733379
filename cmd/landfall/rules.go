package main

import (
	"github.com/spf13/cobra"

	"landfall/internal/api/contract"
)

// rulesCommand prints the built-in rules. 'supplier show' prints a supplier's own severities.
func rulesCommand() *cobra.Command {
	type entry struct {
		Code     string `json:"code" table:"CODE"`
		Severity string `json:"default_severity" table:"DEFAULT"`
		Where    string `json:"where" table:"WHERE"`
		Meaning  string `json:"meaning" table:"MEANING"`
	}
	return &cobra.Command{
		Use: "rules", Short: "Print every cross-field rule and its default severity", Args: checkArguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			return printList(command, rowsOf(contract.RuleBook(), func(rule contract.Rule) entry {
				return entry{rule.Code, string(rule.Severity), rule.Where, rule.Meaning}
			}))
		},
	}
}
