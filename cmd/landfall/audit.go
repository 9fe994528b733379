package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/lib/calendar"
	"landfall/internal/service/audit"
	"landfall/internal/service/operate"
)

func auditCommand() *cobra.Command {
	return commandGroup("audit", "Show who changed what, and verify the audit log",
		auditList(), auditExport(), auditVerify(), auditKey())
}

type auditLine struct {
	ID        int64  `json:"id" table:"ENTRY"`
	Place     int64  `json:"place,omitempty"`
	Hash      string `json:"hash,omitempty"`
	At        string `json:"at" table:"AT"`
	Micros    int64  `json:"at_microseconds"`
	Actor     string `json:"actor" table:"ACTOR"`
	Source    string `json:"source,omitempty" table:"FROM"`
	Action    string `json:"action" table:"ACTION"`
	Subject   string `json:"subject" table:"SUBJECT"`
	Detail    string `json:"detail,omitempty" table:"DETAIL"`
	RequestID string `json:"request_id,omitempty" table:"REQUEST"`
	Acts      string `json:"acts,omitempty"`
}

// newAuditLine includes everything the hash depends on, so that the output is enough to check the
// chain.
func newAuditLine(link landfall.AuditLink) auditLine {
	line := auditLine{
		ID: link.ID, Place: link.Position, At: calendar.FormatInstant(link.At), Micros: link.At.UnixMicro(), Actor: link.Actor,
		Action: link.Action, Subject: link.Subject, Detail: link.Detail, Source: link.Source, RequestID: link.RequestID, Acts: link.Batch,
	}
	// Entries that are not chained yet have no hash; a hash of zeros would look like a computed
	// one.
	if link.Position > 0 {
		line.Hash = link.Hash.String()
	}
	return line
}

// auditList prints the newest entries, up to a limit.
func auditList() *cobra.Command {
	var filter operate.AuditFilter
	var since, until string
	var limit int
	command := onDatabase(&cobra.Command{
		Use: "list", Short: "List changes by operators and organisations, newest first", Args: checkArguments(cobra.NoArgs),
		Example: "  landfall audit list --subject NORTH/1001\n  landfall audit list --actor key:k3y --since 24h",
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		var err error
		if filter.Since, err = parseTimeOrAge("since", since); err != nil {
			return err
		}
		if filter.Until, err = parseTimeOrAge("until", until); err != nil {
			return err
		}
		lines := []auditLine{}
		for link, err := range operator.Audit(command.Context(), filter) {
			if err != nil {
				return err
			}
			lines = append(lines, newAuditLine(link))
			// A limit of 0 is never reached, so it means all.
			if len(lines) == limit {
				break
			}
		}
		return printList(command, lines)
	})
	flags := command.Flags()
	flags.StringVar(&since, "since", "", "only entries after a time, or newer than a duration: 2026-05-01T00:00:00Z, 24h, 7d")
	flags.StringVar(&until, "until", "", "only entries before a time, or older than a duration")
	flags.StringVar(&filter.Actor, "actor", "", "only entries of this actor: operator:NAME or key:ID")
	flags.StringVar(&filter.Action, "action", "", "only actions that start with this, such as key. or account.stage")
	flags.StringVar(&filter.Subject, "subject", "", "only subjects that start with this, such as NORTH/ or NORTH/1001")
	flags.StringVar(&filter.RequestID, "request", "", "only entries of this request")
	flags.IntVar(&limit, "limit", 100, "maximum number of entries; 0 means all")
	return command
}

// parseTimeOrAge reads a time, or a duration before now.
func parseTimeOrAge(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	// Durations are tried first: no time can be read as one.
	if age, err := app.ParseDuration(text); err == nil {
		return time.Now().Add(-age), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, usageError{fmt.Errorf("--%s: want a time such as 2026-05-01T00:00:00Z, or a duration such as 24h", flag)}
	}
	return at, nil
}

// auditExport prints all entries as stored, for other programs.
func auditExport() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "export", Short: "Print every entry with its hash, as one JSON object per line", Args: checkArguments(cobra.NoArgs),
		Long: "Print every entry as stored, oldest first, with its position and hash in the\n" +
			"chain, as one JSON object per line. docs/audit.md describes how the hashes are\n" +
			"computed, so that anyone can check them.",
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		// Written while reading: the log may be larger than memory, and an interrupted export is
		// valid up to its last line.
		encoder := json.NewEncoder(command.OutOrStdout())
		encoder.SetEscapeHTML(false)
		for link, err := range operator.ExportAudit(command.Context()) {
			if err != nil {
				return err
			}
			if err := encoder.Encode(newAuditLine(link)); err != nil {
				return err
			}
		}
		return nil
	})
}

// auditVerify checks the chain, and compares it with checkpoints kept elsewhere.
func auditVerify() *cobra.Command {
	var checkpoints []string
	var public string
	command := onDatabase(&cobra.Command{
		Use: "verify", Short: "Check the audit log for changed, removed, inserted, reordered or truncated entries", Args: checkArguments(cobra.NoArgs),
		Long: "Check whether an entry of the audit log was changed, removed, inserted, reordered\n" +
			"or truncated, and print the first such entry. With --checkpoints, also detect a\n" +
			"rewritten chain and a database restored to an earlier state.",
		Example: "  landfall audit verify\n  landfall audit verify --checkpoints /var/log/landfall/audit.ndjson --public-key audit.pub",
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		// Read the evidence first: reading the chain may take long, and a missing file should be
		// reported right away.
		evidence, err := readEvidence(checkpoints, public)
		if err != nil {
			return err
		}
		result, err := operator.VerifyAudit(command.Context(), evidence)
		if err != nil {
			return err
		}
		// Warn even if everything matches: whoever rewrote the chain could have written matching
		// checkpoints.
		if len(evidence.Checkpoints) > 0 && evidence.Public == nil {
			printWarning(command, "the checkpoint signatures were not verified; pass --public-key")
		}
		// Members without a meaning are left out, so that a program can test for them.
		data := map[string]any{
			"entries": result.Chain.Position, "unsealed": result.Unchained, "checkpoints": result.Checkpoints,
			"chain": result.Chain.Name, "hash": result.Chain.Hash.String(), "holds": result.Problem == "",
			"end_proven": result.Problem == "" && result.Checkpoints > 0,
		}
		if result.Checkpoints > 0 {
			data["last_checkpoint_at"], data["last_checkpoint_place"] = result.Last.At, result.Last.Position
		}
		if result.Problem != "" {
			data["wrong"], data["place"], data["entry"] = result.Problem, result.Position, result.Entry
		}
		// Print the figures before returning the error, so that standard output always has the full
		// result.
		if err := printData(command, data, func(out io.Writer) { printAuditResult(out, result) }); err != nil {
			return err
		}
		if result.Problem != "" {
			return errors.New("the audit log is not intact: " + result.Problem)
		}
		return nil
	})
	flags := command.Flags()
	flags.StringArrayVar(&checkpoints, "checkpoints", nil, "file with checkpoints, or a JSON log that contains them; can be repeated")
	flags.StringVar(&public, "public-key", "", "file with the public key that the checkpoints must be signed with")
	_ = command.MarkFlagFilename("checkpoints") // cannot fail: the flag exists
	_ = command.MarkFlagFilename("public-key")
	return command
}

func printAuditResult(out io.Writer, result audit.Result) {
	fmt.Fprintf(out, "Chain %s: %d entries", result.Chain.Name, result.Chain.Position)
	if result.Checkpoints > 0 {
		fmt.Fprintf(out, ", %d checkpoints match, the last from %s with %d entries after it",
			result.Checkpoints, result.Last.At, result.Chain.Position-result.Last.Position)
	}
	// New entries are chained a little later, so a few unchained ones are normal.
	if result.Unchained > 0 {
		fmt.Fprintf(out, ", %d newer entries not chained yet", result.Unchained)
	}
	fmt.Fprintln(out, ".")
	if result.Problem == "" {
		fmt.Fprintln(out, "No problems found.")
	}
	if result.Checkpoints == 0 {
		fmt.Fprintln(out, noCheckpoint)
	}
}

// noCheckpoint says what a chain cannot prove by itself, and what to do about it.
const noCheckpoint = "The end of the chain is not proven: no checkpoint was given. Entries that were cut off at the end, and a chain that\n" +
	"was rewritten as a whole, are found only by comparison with checkpoints kept elsewhere: use --checkpoints FILE and see docs/audit.md."

// readEvidence reads the checkpoints and the public key from files.
func readEvidence(files []string, public string) (evidence audit.Evidence, err error) {
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return evidence, usageError{err}
		}
		found, err := audit.ReadCheckpoints(file)
		_ = file.Close() // only read
		if err != nil {
			return evidence, fmt.Errorf("%s: %w", name, err)
		}
		evidence.Checkpoints = append(evidence.Checkpoints, found...)
	}
	// Without checkpoints the command would check less than was asked for and still report success.
	if len(files) > 0 && len(evidence.Checkpoints) == 0 {
		return evidence, fmt.Errorf("no checkpoint found in %s; is it truncated, or the wrong file?", strings.Join(files, ", "))
	}
	if public != "" {
		text, err := os.ReadFile(public)
		if err == nil {
			evidence.Public, err = audit.ReadPublicKey(text)
		}
		if err != nil {
			return evidence, usageError{fmt.Errorf("--public-key: %w", err)}
		}
	}
	return evidence, nil
}

// auditKey creates a key pair. The private key goes into a file and is never printed.
func auditKey() *cobra.Command {
	return &cobra.Command{
		Use: "key FILE", Short: "Create a key that signs audit checkpoints", Args: checkArguments(cobra.ExactArgs(1)),
		Long: "Create a key that signs checkpoints of the audit log. The file is for the servers\n" +
			"(setting audit-key-file). The public key is printed, for those who verify.",
		RunE: func(command *cobra.Command, args []string) error {
			private, public, err := audit.NewKey(rand.Reader)
			if err != nil {
				return err
			}
			// Never replace an existing key: its checkpoints could not be verified any more.
			file, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if err != nil {
				return err
			}
			_, err = file.Write(private)
			// Sync before printing the public key, since someone may rely on it from then on.
			if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
				return err
			}
			_, err = command.OutOrStdout().Write(public)
			return err
		},
	}
}
