package main

import (
	"io"

	"github.com/spf13/cobra"

	"landfall/internal/api/contract"
)

// rulesCommand prints the rule book this program was built with. A supplier may
// have severities of its own, which supplier show tells.
func rulesCommand() *cobra.Command {
	type entry struct {
		Code     string `json:"code"`
		Severity string `json:"default_severity"`
		Where    string `json:"where"`
		Meaning  string `json:"meaning"`
	}
	return &cobra.Command{
		Use: "rules", Short: "Print the rule book: every cross-field rule and its default severity", Args: checkArguments(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			// In the order of the book, which groups rules by what they are about.
			entries, rows := []entry{}, [][]string{}
			for _, rule := range contract.RuleBook() {
				entries = append(entries, entry{rule.Code, string(rule.Severity), rule.Where, rule.Meaning})
				rows = append(rows, []string{rule.Code, string(rule.Severity), rule.Where, rule.Meaning})
			}
			return printData(command, entries, func(out io.Writer) {
				printTable(out, []string{"CODE", "DEFAULT", "WHERE", "MEANING"}, rows)
			})
		},
	}
}
