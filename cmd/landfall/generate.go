package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"landfall/internal/kit/book"
	"landfall/internal/kit/generate"
	"landfall/internal/lib/calendar"
)

// generateCommand generates a book for trying out and measuring. It needs neither a server nor a
// database.
func generateCommand() *cobra.Command {
	var faults, packs []string
	order := generate.Options{AsOf: generate.DefaultAsOf}
	command := &cobra.Command{
		Use: "generate [FOLDER]", Short: "Generate a realistic book of accounts for tests and benchmarks", Args: checkArguments(cobra.MaximumNArgs(1)),
		Long: "Generate a realistic book of accounts in a folder (named book by default): people,\n" +
			"homes, meters, bills and payments that add up, notes, statements, control totals of\n" +
			"the old system, and mistakes in chosen shares. The same seed gives the same bytes on\n" +
			"every machine. The phone numbers and e-mail addresses belong to nobody.\n\n" +
			"Faults: " + faultHelp(),
		Example: "  landfall generate --accounts 5000 --faults 3%\n" +
			"  landfall generate big --accounts 1000000 --seed 7 --compress zst\n" +
			"  landfall generate --accounts 1000 --fault phone=5% --fault balance=1%\n" +
			"  landfall generate --pack gb-energy@1         with fields of a pack\n" +
			"  landfall generate export --format csv        tables for landfall convert",
		RunE: func(command *cobra.Command, args []string) error {
			folder := "book"
			if len(args) == 1 {
				folder = args[0]
			}
			ending, err := readGenerateFlags(command, &order, faults)
			if err != nil {
				return usageError{err}
			}
			format, _ := command.Flags().GetString("format")
			if len(packs) > 0 && format == "csv" {
				return usageError{errors.New("--pack cannot be combined with --format csv: the tables have no columns for the fields of packs")}
			}
			if len(packs) > 0 {
				if order.Schema, err = openPacks(packs); err != nil {
					return err
				}
			}
			bar := newCommandProgress(command, "accounts generated")
			progress := func(done int) { bar.at(done, order.Accounts) }
			// Tables are input for convert.
			if format == "csv" {
				printed, err := order.WriteTables(command.Context(), folder, progress)
				bar.clear()
				if err != nil {
					return explainInterrupt(err)
				}
				return printGeneratedTables(command, folder, printed)
			}
			printed, err := order.WriteBook(command.Context(), folder, ending, progress)
			bar.clear()
			if err != nil {
				return explainInterrupt(err)
			}
			return printGenerated(command, folder, ending, printed)
		},
	}
	flags := command.Flags()
	flags.IntVar(&order.Accounts, "accounts", 1000, "number of accounts")
	flags.Uint64Var(&order.Seed, "seed", 1, "seed of the random generator")
	flags.StringVar(&order.Supplier, "supplier", "DEMO_ENERGY", "code of the import supplier in every line")
	flags.StringVar(&order.Vendor, "vendor", "", "code of a payment vendor; without one there are no payment instructions")
	flags.String("as-of", order.AsOf.String(), "date of the old system's export; nothing is later")
	flags.String("faults", "", "share of accounts with a mistake of any kind that the service refuses, such as 3%")
	flags.StringArrayVar(&faults, "fault", nil, "KIND=SHARE of one kind of mistake; can be repeated")
	flags.String("compress", "", "compress the files: gz or zst")
	packFlag(command, &packs)
	flags.String("format", "ndjson", "ndjson, or csv for the tables of an imaginary old system with their map")
	completeFlag(command, "compress", oneOf("gz", "zst"))
	completeFlag(command, "format", oneOf("ndjson", "csv"))
	for _, name := range []string{"accounts", "seed", "supplier", "vendor", "as-of", "faults", "fault"} {
		completeFlag(command, name, noCompletion)
	}
	return command
}

// faultHelp lists the kinds of mistakes.
func faultHelp() string {
	var list []string
	for _, kind := range generate.FaultKinds() {
		list = append(list, kind[0]+" ("+kind[1]+")")
	}
	return strings.Join(list, ",\n") + "."
}

// readGenerateFlags reads the flags into the order.
func readGenerateFlags(command *cobra.Command, order *generate.Options, faults []string) (ending string, err error) {
	flags := command.Flags()
	day, _ := flags.GetString("as-of")
	if order.AsOf, err = calendar.ParseDay(day); err != nil {
		return "", fmt.Errorf("--as-of %s: want a date such as %s", day, generate.DefaultAsOf)
	}
	switch packed, _ := flags.GetString("compress"); packed {
	case "":
	case "gz", "zst":
		ending = "." + packed
	default:
		return "", fmt.Errorf("--compress %s: want gz or zst", packed)
	}
	format, _ := flags.GetString("format")
	switch {
	case format != "ndjson" && format != "csv":
		return "", fmt.Errorf("--format %s: want ndjson or csv", format)
	case format == "csv" && ending != "":
		return "", errors.New("--compress cannot be combined with --format csv")
	}
	// Both --fault and --faults may be given.
	for _, fault := range faults {
		kind, written, ok := strings.Cut(fault, "=")
		if !ok {
			return "", fmt.Errorf("--fault %s: want KIND=SHARE, such as phone=2%%", fault)
		}
		share, err := parseShare(written)
		if err != nil {
			return "", err
		}
		order.Faults = append(order.Faults, generate.Fault{Kind: kind, Share: share})
	}
	if written, _ := flags.GetString("faults"); written != "" {
		share, err := parseShare(written)
		if err != nil {
			return "", err
		}
		kinds := generate.CommonFaultKinds(format == "csv")
		for _, kind := range kinds {
			// The share is of accounts with any mistake, so it is divided among the kinds.
			order.Faults = append(order.Faults, generate.Fault{Kind: kind[0], Share: share / float64(len(kinds))})
		}
	}
	if format == "csv" {
		return ending, errors.Join(order.Check(), order.CheckTables())
	}
	return ending, order.Check()
}

// parseShare reads 3% or 0.03.
func parseShare(written string) (float64, error) {
	number, percent := strings.CutSuffix(written, "%")
	share, err := strconv.ParseFloat(number, 64)
	if percent {
		share /= 100
	}
	// Written so that NaN is refused too.
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, fmt.Errorf("%s is not a share; write 3%% or 0.03", written)
	}
	return share, nil
}

// printGenerated lists the files of the generated book.
func printGenerated(command *cobra.Command, folder, ending string, printed generate.Written) error {
	lines := map[string]int{}
	for kind, count := range printed.Lines {
		lines[kind.Stem+".ndjson"+ending] = count
	}
	data := map[string]any{"folder": folder, "lines": lines, "faults": printed.Faults}
	return printData(command, data, func(out io.Writer) {
		rows := [][]string{}
		// In the order of the book, without empty files.
		for _, kind := range book.Kinds() {
			if count := printed.Lines[kind]; count > 0 {
				rows = append(rows, []string{kind.Stem + ".ndjson" + ending, strconv.Itoa(count)})
			}
		}
		rows = append(rows, []string{book.TotalsName, ""})
		fmt.Fprintf(out, "In %s:\n\n", escapeText(folder))
		printTable(out, []string{"FILE", "LINES"}, rows)
		printFaults(out, printed.Faults)
	})
}

// printGeneratedTables lists the generated tables.
func printGeneratedTables(command *cobra.Command, folder string, printed generate.WrittenTables) error {
	data := map[string]any{"folder": folder, "rows": printed.Rows, "map": generate.MapName, "faults": printed.Faults}
	return printData(command, data, func(out io.Writer) {
		fmt.Fprintf(out, "In %s, with %s for landfall convert:\n\n", escapeText(folder), generate.MapName)
		printTable(out, []string{"TABLE", "ROWS"}, rowsOf(slices.Sorted(maps.Keys(printed.Rows)), func(name string) []string {
			return []string{name, strconv.Itoa(printed.Rows[name])}
		}))
		printFaults(out, printed.Faults)
	})
}

// printFaults prints how many mistakes of each kind were made.
func printFaults(out io.Writer, faults map[string]int) {
	if len(faults) == 0 {
		return
	}
	rows := [][]string{}
	for _, kind := range generate.FaultKinds() {
		if count := faults[kind[0]]; count > 0 {
			rows = append(rows, []string{kind[0], strconv.Itoa(count), kind[1]})
		}
	}
	fmt.Fprint(out, "\nMistakes in it:\n\n")
	printTable(out, []string{"FAULT", "ACCOUNTS", "DESCRIPTION"}, rows)
}
