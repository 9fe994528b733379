package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"landfall/internal/api/contract"
	"landfall/internal/api/pack"
	"landfall/internal/service/operate"
)

func packCommand() *cobra.Command {
	return commandGroup("pack", "Manage packs: fields that a market or a company adds to accounts",
		packCheck(), packAdd(), packList(), packShow())
}

// packFlag adds the flag of commands that work without a server.
func packFlag(command *cobra.Command, packs *[]string) {
	command.Flags().StringArrayVar(packs, "pack", nil, "file of a pack, or NAME@VERSION of a built-in one; can be repeated")
}

// openPacks returns the fields of packs, each a file or the name of a built-in pack.
func openPacks(names []string) (*contract.Schema, error) {
	schema, err := contract.OpenSchema(names, os.ReadFile)
	if err != nil {
		return nil, usageError{fmt.Errorf("--pack: %w", err)}
	}
	return schema, nil
}

// packCheck checks files without a database.
func packCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check FILE...", Short: "Check the file of a pack, without a database", Args: checkArguments(cobra.MinimumNArgs(1)),
		RunE: func(command *cobra.Command, files []string) error {
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					return usageError{err}
				}
				read, err := operate.CheckPack(text)
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
				if err := printDone(command, newPackEntry(operate.PackFacts{Pack: read}), "%s is a valid pack: %s.", file, read.Name()); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func packAdd() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "add FILE", Short: "Add a pack, or a new version of one", Args: checkArguments(cobra.ExactArgs(1)),
		Example: "  landfall pack add own-fields.yaml\n  landfall supplier set ACME --pack gb-energy@1 --pack own-fields@1",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		text, err := os.ReadFile(args[0])
		if err != nil {
			return usageError{err}
		}
		added, err := operator.AddPack(command.Context(), text)
		if err != nil {
			return err
		}
		return printDone(command, newPackEntry(operate.PackFacts{Pack: added}),
			"Added pack %s. Use it with: landfall supplier set CODE --pack %s", added.Name(), added.Name())
	})
}

type packEntry struct {
	Name        string   `json:"name" table:"NAME"`
	Origin      string   `json:"origin" table:"ORIGIN"` // builtin or added
	Fields      int      `json:"fields" table:"FIELDS"`
	Objects     int      `json:"objects" table:"OBJECTS"`
	Rules       int      `json:"rules" table:"RULES"`
	Suppliers   []string `json:"suppliers" table:"SUPPLIERS"`
	Description string   `json:"description" table:"DESCRIPTION"`
}

func newPackEntry(facts operate.PackFacts) packEntry {
	entry := packEntry{
		Name: facts.Name(), Origin: "added", Objects: len(facts.Objects), Rules: len(facts.Rules),
		Suppliers: append([]string{}, facts.Suppliers...), Description: facts.Description,
	}
	if facts.Builtin {
		entry.Origin = "builtin"
	}
	for _, objects := range [][]pack.Object{facts.Added, facts.Objects} {
		for _, object := range objects {
			entry.Fields += len(object.Fields)
		}
	}
	return entry
}

// packList lists the built-in packs and those that were added.
func packList() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List all packs", Args: checkArguments(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		found, err := operator.Packs(command.Context())
		if err != nil {
			return err
		}
		return printList(command, rowsOf(found, newPackEntry))
	})
}

// packShow prints the file of a pack, or a filled account.
func packShow() *cobra.Command {
	var example bool
	command := onDatabase(&cobra.Command{
		Use: "show NAME@VERSION", Short: "Print the file of a pack", Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(packNames),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		found, err := operator.ShowPack(command.Context(), args[0])
		if err != nil {
			return err
		}
		if example {
			schema, err := contract.NewSchema(found.Pack)
			if err != nil {
				return err
			}
			_, err = command.OutOrStdout().Write(append(schema.Example(), '\n'))
			return err
		}
		return printData(command, newPackEntry(found), func(out io.Writer) {
			fmt.Fprint(out, strings.TrimRight(string(found.Text), "\n")+"\n")
		})
	})
	command.Flags().BoolVar(&example, "example", false, "print an account in which every field of the pack is filled")
	return command
}
