package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/lib/calendar"
	"landfall/internal/service/audit"
	"landfall/internal/service/operate"
)

// auditCommand holds what shows who did what, and proves that nobody changed it.
func auditCommand() *cobra.Command {
	return commandGroup("audit", "Who changed what, and whether that record is whole",
		auditList(), auditExport(), auditVerify(), auditKey())
}

// auditLine is an entry as machines read it.
type auditLine struct {
	ID        int64  `json:"id"`
	Place     int64  `json:"place,omitempty"`
	Hash      string `json:"hash,omitempty"`
	At        string `json:"at"`
	Micros    int64  `json:"at_microseconds"`
	Actor     string `json:"actor"`
	Action    string `json:"action"`
	Subject   string `json:"subject"`
	Detail    string `json:"detail,omitempty"`
	Source    string `json:"source,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Acts      string `json:"acts,omitempty"`
}

// newAuditLine writes an entry with everything its hash depends on, so that
// others can check the chain with what is printed.
func newAuditLine(link landfall.AuditLink) auditLine {
	line := auditLine{
		ID: link.ID, Place: link.Position, At: calendar.FormatInstant(link.At), Micros: link.At.UnixMicro(), Actor: link.Actor,
		Action: link.Action, Subject: link.Subject, Detail: link.Detail, Source: link.Source, RequestID: link.RequestID, Acts: link.Batch,
	}
	// Entries that are not chained yet have no place, and a hash of zeros would look like one
	// that was computed.
	if link.Position > 0 {
		line.Hash = link.Hash.String()
	}
	return line
}

// auditList is for people: the newest first, and no more than was asked for.
func auditList() *cobra.Command {
	var filter operate.AuditFilter
	var since, until string
	var limit int
	command := onDatabase(&cobra.Command{
		Use: "list", Short: "List what operators and organisations did, the newest first", Args: checkArguments(cobra.NoArgs),
		Example: "  landfall audit list --subject NORTH/1001\n  landfall audit list --actor key:k3y --since 24h",
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		var err error
		// Both moments are read before the database is asked, so that a slip costs nothing.
		if filter.Since, err = parseTimeOrAge("since", since); err != nil {
			return err
		}
		if filter.Until, err = parseTimeOrAge("until", until); err != nil {
			return err
		}
		// The limit keeps both short; everything is what export is for.
		lines, rows := []auditLine{}, [][]string{}
		for link, err := range operator.Audit(command.Context(), filter) {
			if err != nil {
				return err
			}
			line := newAuditLine(link)
			lines = append(lines, line)
			rows = append(rows, []string{
				strconv.FormatInt(line.ID, 10), line.At, line.Actor, line.Source, line.Action, line.Subject, line.Detail, line.RequestID,
			})
			// A limit of 0 is never met, and so means all.
			if len(lines) == limit {
				break
			}
		}
		return printData(command, lines, func(out io.Writer) {
			printTable(out, []string{"ENTRY", "AT", "ACTOR", "FROM", "ACTION", "SUBJECT", "DETAIL", "REQUEST"}, rows)
		})
	})
	flags := command.Flags()
	flags.StringVar(&since, "since", "", "only what was done after an instant, or within a time: 2026-05-01T00:00:00Z, 24h, 7d")
	flags.StringVar(&until, "until", "", "only what was done before an instant, or longer ago than a time")
	flags.StringVar(&filter.Actor, "actor", "", "only what one did: operator:NAME or key:ID")
	flags.StringVar(&filter.Action, "action", "", "only actions that begin like this, such as key. or account.stage")
	flags.StringVar(&filter.Subject, "subject", "", "only about what begins like this, such as NORTH/ or NORTH/1001")
	flags.StringVar(&filter.RequestID, "request", "", "only what was done in one request")
	flags.IntVar(&limit, "limit", 100, "how many at most; 0: all")
	return command
}

// parseTimeOrAge reads an instant, or how long ago one was.
func parseTimeOrAge(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	// Lengths of time go first: no instant can be read as one.
	if length, err := app.ParseDuration(text); err == nil {
		return time.Now().Add(-length), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, usageError{fmt.Errorf("--%s: want an instant such as 2026-05-01T00:00:00Z, or a time such as 24h", flag)}
	}
	return at, nil
}

// auditExport is for machines: everything, as it is kept.
func auditExport() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "export", Short: "Print every entry as it is kept, with its hash: JSON, one on each line", Args: checkArguments(cobra.NoArgs),
		Long: "Print every entry as it is kept, the oldest first, with its place and hash in\n" +
			"the chain: JSON, one entry on each line. docs/audit.md says how the hashes are\n" +
			"computed, so that anybody can check them.",
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		// Written as it is read and not through show: an audit may be larger than memory, and
		// half an export that was interrupted is still good up to its last line.
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

// auditVerify holds the chain against itself and against checkpoints kept
// elsewhere.
func auditVerify() *cobra.Command {
	var checkpoints []string
	var public string
	command := onDatabase(&cobra.Command{
		Use: "verify", Short: "Find out whether an entry was altered, removed, put in, swapped or cut off", Args: checkArguments(cobra.NoArgs),
		Long: "Find out whether an entry of the audit was altered, removed, put in, swapped or\n" +
			"cut off, and name the first. With --checkpoints also whether the whole chain\n" +
			"was written anew or an earlier state of the database was restored.",
		Example: "  landfall audit verify\n  landfall audit verify --checkpoints /var/log/landfall/audit.ndjson --public-key audit.pub",
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		// The evidence is read before the chain, which may take long: a file that is not there is
		// told at once.
		evidence, err := readEvidence(checkpoints, public)
		if err != nil {
			return err
		}
		verdict, err := operator.VerifyAudit(command.Context(), evidence)
		if err != nil {
			return err
		}
		// Said even when everything holds: whoever wrote the chain anew could have written
		// checkpoints to match.
		if len(evidence.Checkpoints) > 0 && evidence.Public == nil {
			printWarning(command, "the signatures of the checkpoints were not looked at: --public-key is missing")
		}
		// What has no meaning in a case is left out below rather than told as zero, so that
		// machines can ask whether it is there.
		told := map[string]any{
			"entries": verdict.Chain.Position, "unsealed": verdict.Unsealed, "checkpoints": verdict.Checkpoints,
			"chain": verdict.Chain.Name, "hash": verdict.Chain.Hash.String(), "holds": verdict.Wrong == "",
		}
		if verdict.Checkpoints > 0 {
			told["last_checkpoint_at"], told["last_checkpoint_place"] = verdict.Last.At, verdict.Last.Place
		}
		if verdict.Wrong != "" {
			told["wrong"], told["place"], told["entry"] = verdict.Wrong, verdict.Place, verdict.Entry
		}
		// The figures are printed first and the error comes after them, so that standard output
		// has the whole verdict and the exit code still is 1.
		if err := printData(command, told, func(out io.Writer) { printVerdict(out, verdict) }); err != nil {
			return err
		}
		if verdict.Wrong != "" {
			return errors.New("the audit does not hold: " + verdict.Wrong)
		}
		return nil
	})
	flags := command.Flags()
	flags.StringArrayVar(&checkpoints, "checkpoints", nil, "file with checkpoints, or a log in JSON that has them; may be given several times")
	flags.StringVar(&public, "public-key", "", "file with the public key that the checkpoints must be signed with")
	_ = command.MarkFlagFilename("checkpoints") // it is there, or we would not be here
	_ = command.MarkFlagFilename("public-key")  // likewise
	return command
}

// printVerdict says what holds and, where something does not, at which place
// it begins.
func printVerdict(out io.Writer, verdict audit.Verdict) {
	fmt.Fprintf(out, "Chain %s: %d entries", verdict.Chain.Name, verdict.Chain.Position)
	// Checkpoints are only named where there are some: "0 agree" would sound as if something had
	// been checked.
	if verdict.Checkpoints > 0 {
		fmt.Fprintf(out, ", %d checkpoints agree, the last of %s with %d entries behind it",
			verdict.Checkpoints, verdict.Last.At, verdict.Chain.Position-verdict.Last.Place)
	}
	// New entries are chained a little later, so that some without a place are no reason to
	// worry.
	if verdict.Unsealed > 0 {
		fmt.Fprintf(out, ", %d newer ones not chained yet", verdict.Unsealed)
	}
	fmt.Fprintln(out, ".")
	if verdict.Wrong == "" {
		fmt.Fprintln(out, "Everything holds.")
	}
}

// readEvidence reads what was kept outside the database.
func readEvidence(files []string, public string) (evidence audit.Evidence, err error) {
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return evidence, usageError{err}
		}
		found, err := audit.ReadCheckpoints(file)
		_ = file.Close() // it was only read
		if err != nil {
			return evidence, fmt.Errorf("%s: %w", name, err)
		}
		evidence.Checkpoints = append(evidence.Checkpoints, found...)
	}
	// Files were named and hold nothing: to go on would check less than was asked for, and say
	// that it holds.
	if len(files) > 0 && len(evidence.Checkpoints) == 0 {
		return evidence, fmt.Errorf("there is no checkpoint in %s: was it cut off, or is it the wrong file?", strings.Join(files, ", "))
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

// auditKey makes the key pair on the spot: the private half is never printed.
func auditKey() *cobra.Command {
	return &cobra.Command{
		Use: "key FILE", Short: "Make a key that signs checkpoints", Args: checkArguments(cobra.ExactArgs(1)),
		Long: "Make a key that signs checkpoints of the audit. The file is for the servers\n" +
			"(setting audit-key-file); the public half is printed, for those who verify.",
		RunE: func(command *cobra.Command, args []string) error {
			private, public, err := audit.NewKey(rand.Reader)
			if err != nil {
				return err
			}
			// An existing key is never replaced: its checkpoints would be lost.
			file, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if err != nil {
				return err
			}
			_, err = file.Write(private)
			// Synced before the public half is handed out, since somebody may rely on it from
			// that moment on.
			if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
				return err
			}
			// Only the public half goes to standard output, from where it can be sent to anybody.
			_, err = command.OutOrStdout().Write(public)
			return err
		},
	}
}
