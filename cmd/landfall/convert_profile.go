package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall/internal/kit/book"
	"landfall/internal/kit/convert"
	"landfall/internal/kit/report"
)

// profileTables describes the tables of a folder, before a map is written.
func profileTables(command *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{errors.New("--profile takes one folder of tables")}
	}
	page, _ := command.Flags().GetString("html")
	if _, err := os.Lstat(page); page != "" && err == nil {
		return usageError{fmt.Errorf("%s already exists; remove it or name another file", page)}
	}
	profile, err := convert.ProfileTables(command.Context(), args[0])
	if err != nil {
		return usageError{err}
	}
	tables := profileReport(profile)
	if page != "" {
		html, err := report.Page(report.Summary{
			Title: "Profile of " + args[0], MadeAt: time.Now(), Tables: tables,
			Sentence: counted(len(profile.Tables), "table") + ", " + counted(len(tables[0].Rows), "value") + " to look at.",
		})
		if err == nil {
			err = book.WriteNamed(page, html)
		}
		if err != nil {
			return err
		}
	}
	return printData(command, profile, func(out io.Writer) {
		for i, table := range tables {
			if i > 0 {
				fmt.Fprintln(out)
			}
			fmt.Fprintf(out, "%s\n", escapeText(table.Title))
			if table.Remark != "" {
				fmt.Fprintf(out, "%s\n", escapeText(table.Remark))
			}
			if len(table.Rows) > 0 {
				fmt.Fprintln(out)
				printTable(out, upperAll(table.Columns), table.Rows)
			}
		}
	})
}

func upperAll(texts []string) []string {
	return rowsOf(texts, strings.ToUpper)
}

// profileReport writes a profile as tables: what to look at first, then how the tables belong
// together, then the columns.
func profileReport(profile *convert.Profile) []report.Table {
	look := report.Table{Title: "Worth a look", Columns: []string{"File", "Column", "Values", "What", "First", "Line"}}
	links := report.Table{Title: "Tables that belong together", Columns: []string{"File", "Column", "Refers to", "Values", "Not found"}}
	var columns []report.Table
	for _, table := range profile.Tables {
		one := report.Table{
			Title: table.File, Remark: fmt.Sprintf("%s rows, %s", report.Number(table.Rows), table.Encoding),
			Columns: []string{"Column", "Type", "Filled", "Distinct", "Smallest", "Largest", "Patterns"},
		}
		if len(table.Keys) > 0 {
			one.Remark += "; a different value in every row: " + strings.Join(table.Keys, ", ")
		}
		if table.Malformed > 0 {
			look.Rows = append(look.Rows, []string{table.File, "", report.Number(table.Malformed), "rows without as many fields as the header", "", ""})
		}
		for _, column := range table.Columns {
			distinct := report.Number(column.Distinct)
			if !column.Exact {
				distinct = "about " + distinct
			}
			patterns := rowsOf(column.Patterns, func(one convert.ValueCount) string {
				return one.Pattern + " " + report.Percent(one.Count, column.Filled)
			})
			one.Rows = append(one.Rows, []string{
				column.Name, strings.TrimSpace(column.Type + " " + column.Format), report.Percent(column.Filled, column.Filled+column.Empty), distinct,
				column.Min, column.Max, strings.Join(patterns[:min(3, len(patterns))], ", "),
			})
			for _, odd := range column.Suspicious {
				line := ""
				if odd.Line > 0 {
					line = strconv.Itoa(odd.Line)
				}
				look.Rows = append(look.Rows, []string{table.File, column.Name, report.Number(odd.Count), odd.What, odd.Value, line})
			}
		}
		columns = append(columns, one)
	}
	for _, file := range profile.Unread {
		look.Rows = append(look.Rows, []string{file.Name, "", "", file.Why, "", ""})
	}
	if len(look.Rows) == 0 {
		look.Remark = "Nothing unusual was found."
	}
	for _, link := range profile.Links {
		links.Rows = append(links.Rows, []string{
			link.File, link.Column, link.Other + " " + link.Theirs, report.Number(link.Compared), report.Number(link.Missing) + " (" + report.Percent(link.Missing, link.Compared) + ")",
		})
	}
	if len(links.Rows) == 0 {
		links.Remark = "No column has the values of a key of another table."
	}
	return append([]report.Table{look, links}, columns...)
}
