package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/spreadsheet"
	"landfall/internal/service/operate"
)

// accountDuplicates prints while it reads, so that a long list is never held in memory.
func accountDuplicates() *cobra.Command {
	var rule, format string
	command := onDatabase(&cobra.Command{
		Use: "duplicates SUPPLIER", Short: "List pairs of accounts that share a supply point, instruction, reference or number",
		Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(supplierCodes),
		Long: "List pairs of accounts that exist or are staged and have the same supply point,\n" +
			"payment instruction, reference or number at the same time. One of them is of the\n" +
			"supplier; the other one may be of another supplier that has an organisation in\n" +
			"common with it. Of each identifier the last three characters are shown.",
		Example: "  landfall account duplicates NORTH\n  landfall account duplicates NORTH --rule reference_on_another_account --format csv > pairs.csv",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		if jsonWanted(command) {
			format = "ndjson"
		}
		printer, known := duplicatePrinters[format]
		if !known {
			return usageError{fmt.Errorf("--format %s: want table, ndjson or csv", format)}
		}
		pairs, err := operator.Duplicates(command.Context(), args[0], rule, landfall.DuplicateQuery{})
		if err != nil {
			return err
		}
		out := bufio.NewWriter(command.OutOrStdout())
		write, finish := printer(out)
		count := 0
		for pair, err := range pairs {
			if err == nil {
				count++
				err = write(args[0], pair)
			}
			if err != nil {
				return err
			}
		}
		if err := finish(count); err != nil {
			return err
		}
		return out.Flush()
	})
	command.Flags().StringVar(&rule, "rule", "", "only pairs that break this rule, even if it is off")
	command.Flags().StringVar(&format, "format", "table", "table, ndjson or csv")
	completeFlag(command, "rule", oneOf(contract.AcrossCodes()...))
	completeFlag(command, "format", oneOf("table", "ndjson", "csv"))
	return command
}

// writeDuplicate writes a pair of accounts of a supplier, and finishDuplicates ends the list.
type (
	writeDuplicate   func(supplier string, pair landfall.Duplicate) error
	finishDuplicates func(count int) error
)

var duplicatePrinters = map[string]func(io.Writer) (writeDuplicate, finishDuplicates){
	"table": func(out io.Writer) (writeDuplicate, finishDuplicates) {
		const layout = "%-46s  %-32s  %-24s  %s\n"
		return func(supplier string, pair landfall.Duplicate) error {
				code, _ := contract.AcrossRule(pair.Identifier.Kind, &landfall.Supplier{})
				_, err := fmt.Fprintf(out, layout, code, escapeText(pair.Identifier.Space+" …"+contract.LastThree(pair.Identifier.Value)),
					escapeText(supplier+" "+pair.First.External), escapeText(pair.Supplier+" "+pair.Second.External))
				return err
			}, func(count int) error {
				_, err := fmt.Fprintf(out, "%d pairs.\n", count)
				return err
			}
	},
	"ndjson": func(out io.Writer) (writeDuplicate, finishDuplicates) {
		return func(_ string, pair landfall.Duplicate) error {
			return printLine(out, json.RawMessage(contract.DuplicateBody.Append(nil, pair)))
		}, func(int) error { return nil }
	},
	"csv": func(out io.Writer) (writeDuplicate, finishDuplicates) {
		table := spreadsheet.NewWriter(out)
		err := table.Write("rule", "type", "identifier_ends_with", "import_supplier", "external_account_number", "platform_account_number",
			"other_import_supplier", "other_external_account_number", "other_platform_account_number")
		return func(supplier string, pair landfall.Duplicate) error {
			if err != nil {
				return err
			}
			code, _ := contract.AcrossRule(pair.Identifier.Kind, &landfall.Supplier{})
			return table.Write(code, pair.Identifier.Space, contract.LastThree(pair.Identifier.Value), supplier, pair.First.External, pair.First.AccountNumber,
				pair.Supplier, pair.Second.External, pair.Second.AccountNumber)
		}, func(int) error { return table.Flush() }
	},
}
