// Command bench measures the hot paths of the built program against the raw
// limit of the same machine, side by side in one run. It prints ratios: the
// machines we run on are noisy and an absolute rate says little.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// connections is how many clients send at once, in every measurement.
const connections = 64

func main() {
	if len(os.Args) == 4 && os.Args[1] == bareServerArgument {
		fmt.Fprintln(os.Stderr, "bench:", serveBare(os.Args[2], os.Args[3]))
		os.Exit(1)
	}
	length := flag.Duration("length", 4*time.Second, "how long each arm of a measurement runs")
	rounds := flag.Int("rounds", 3, "how often the two arms alternate; the median ratio counts")
	rows := flag.Int("rows", 1_000_000, "rows of the long list")
	only := flag.String("only", "", "comma-separated names of the measurements to run; all by default")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, plan{length: *length, rounds: *rounds, rows: *rows, only: *only})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// plan says how much to measure.
type plan struct {
	length time.Duration
	rounds int
	rows   int
	only   string
}

// measurement is one line of the report.
type measurement struct {
	name string
	goal float64
	run  func(ctx context.Context, p plan, m *machinery) (result, error)
}

// measurements lists the hot paths and what we want of them.
var measurements = []measurement{
	{"validate", 0.4, measureValidate},
	{"stage-postgres", 0.4, measureStagePostgres},
	{"stage-sqlite", 0.4, measureStageSQLite},
	{"stage-sqlite-inside", 0.2, measureStageInside},
	{"process-postgres", 0.7, measureProcessPostgres},
	{"process-sqlite", 0.8, measureProcessSQLite},
	{"process-at-a-million", 0.9, measureGrown},
	{"notes-1-postgres", 0.5, measurePostPostgres(notePosting, 1)},
	{"notes-100-postgres", 0.5, measurePostPostgres(notePosting, 100)},
	{"transactions-1-postgres", 0.5, measurePostPostgres(transactionPosting, 1)},
	{"transactions-100-postgres", 0.5, measurePostPostgres(transactionPosting, 100)},
	{"notes-1-sqlite", 0.5, measurePostSQLite(notePosting, 1)},
	{"notes-100-sqlite", 0.5, measurePostSQLite(notePosting, 100)},
	{"transactions-1-sqlite", 0.5, measurePostSQLite(transactionPosting, 1)},
	{"transactions-100-sqlite", 0.5, measurePostSQLite(transactionPosting, 100)},
	{"stage-with-slow-vendor", 0.8, measureSlowVendor},
	{"list", 0.5, measureList},
	{"list-memory-mib", 64, measureListMemory},
}

// result is a ratio with the two figures behind it, in words.
type result struct {
	ratio  float64
	ours   string
	raw    string
	atMost bool // the goal is an upper bound, not a lower one
}

func run(ctx context.Context, p plan) error {
	machinery, err := prepare(ctx)
	if err != nil {
		return err
	}
	defer machinery.close()
	fmt.Printf("%-34s %7s %7s   %-34s %s\n", "measurement", "ratio", "goal", "landfall", "raw limit")
	missed := 0
	for _, m := range measurements {
		if p.only != "" && !slices.Contains(strings.Split(p.only, ","), m.name) {
			continue
		}
		result, err := m.run(ctx, p, machinery)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		verdict := ""
		if met := result.ratio >= m.goal; met == result.atMost {
			verdict, missed = "  MISSED", missed+1
		}
		fmt.Printf("%-34s %7.2f %7.2f   %-34s %s%s\n", m.name, result.ratio, m.goal, result.ours, result.raw, verdict)
	}
	if missed > 0 {
		return fmt.Errorf("%d goals missed", missed)
	}
	return nil
}

// alternate runs the two arms in turn, so that a slow minute of the machine
// hits both, and gives the median of the ratios with the medians of the rates.
func alternate(rounds int, ours, raw func() (float64, error)) (ratio, oursRate, rawRate float64, err error) {
	var ratios, rates, limits []float64
	for range rounds {
		limit, err := raw()
		if err != nil {
			return 0, 0, 0, fmt.Errorf("raw limit: %w", err)
		}
		rate, err := ours()
		if err != nil {
			return 0, 0, 0, err
		}
		ratios, rates, limits = append(ratios, rate/limit), append(rates, rate), append(limits, limit)
	}
	return median(ratios), median(rates), median(limits), nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// perSecond writes a rate for people.
func perSecond(rate float64, what string) string { return fmt.Sprintf("%.0f %s/s", rate, what) }
