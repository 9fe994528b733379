package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

func targetCommand() *cobra.Command {
	return commandGroup("target", "Manage the systems that created accounts are delivered to", targetSet(), targetList(), targetShow(), targetTest(),
		targetRotate(), targetReplay(), targetBackfill(), targetServe(), targetCheck(),
		targetChange("pause", "Stop deliveries to a target until it is resumed", "Paused target %s. What is to be delivered waits.", (*operate.Operator).PauseTarget),
		targetChange("resume", "Deliver to a paused or failing target again, at once", "Resumed target %s.", (*operate.Operator).ResumeTarget),
		targetChange("remove", "Remove a target and everything that waits for it", "Removed target %s.", (*operate.Operator).RemoveTarget))
}

func targetChange(verb, short, done string, change func(*operate.Operator, context.Context, string) error) *cobra.Command {
	return changeCommand("target."+verb, &cobra.Command{
		Use: verb + " CODE", Short: short, ValidArgsFunction: completeArguments(targetCodes),
	}, "code", func(operator *operate.Operator, ctx context.Context, args []string) error {
		return change(operator, ctx, args[0])
	}, done)
}

// onTarget completes a command about one target.
func onTarget(command *cobra.Command, work func(*cobra.Command, *operate.Operator, string) error) *cobra.Command {
	command.Args, command.ValidArgsFunction = checkArguments(cobra.ExactArgs(1)), completeArguments(targetCodes)
	return onDatabase(command, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		return work(command, operator, args[0])
	})
}

// targetSet creates or changes a target.
func targetSet() *cobra.Command {
	command := onTarget(&cobra.Command{
		Use: "set CODE", Short: "Create or change a target",
		Long: "Create or change a target: a system that the accounts of suppliers are delivered to.\n" +
			"Requests are signed with a secret that is printed once, or with the one in the\n" +
			"environment variable that --secret-env names. Then: supplier set SUPPLIER --target CODE.",
		Example: "  landfall target set BILLING --url https://billing.example/landfall\n" +
			"  landfall target set BILLING --shape billing.jq --at-once 32 --takes-back",
	}, func(command *cobra.Command, operator *operate.Operator, code string) error {
		change, err := readTargetChange(command)
		if err != nil {
			return err
		}
		saved, secret, err := operator.SetTarget(command.Context(), code, change)
		if err != nil {
			return err
		}
		data := newTargetEntry(landfall.TargetFigures{Target: saved})
		if secret == "" {
			return printDone(command, data, "Set target %s.", saved.Code)
		}
		return printSecret(command, secret, "Set target "+saved.Code+". Its secret will not be shown again:",
			map[string]any{"code": saved.Code, "url": saved.URL, "secret": secret})
	})
	flags := command.Flags()
	flags.String("url", "", "address of the target, to which /accounts/… is added")
	flags.String("secret-env", "", "environment variable of the server with the signing secret, named TARGET_…, or none")
	flags.String("shape", "", "file with a jq program that turns our JSON into the target's, or none")
	flags.Int("at-once", 0, "accounts delivered side by side (default 16)")
	flags.Bool("takes-back", false, "the target deletes accounts that are undone")
	_ = command.MarkFlagFilename("shape", "jq") // cannot fail: the flag exists
	completeFlag(command, "url", prefixes("https://"))
	completeFlag(command, "secret-env", noCompletion)
	completeFlag(command, "at-once", noCompletion)
	return command
}

// readTargetChange returns only the settings whose flags were given.
func readTargetChange(command *cobra.Command) (change operate.TargetChange, err error) {
	flags := command.Flags()
	text := func(name string) *string {
		if !flags.Changed(name) {
			return nil
		}
		value, _ := flags.GetString(name)
		if value == "none" {
			value = ""
		}
		return &value
	}
	change.URL, change.SecretEnv, change.Shape = text("url"), text("secret-env"), text("shape")
	if change.Shape != nil && *change.Shape != "" {
		program, err := os.ReadFile(*change.Shape) //nolint:gosec // the operator names the file
		if err != nil {
			return change, usageError{fmt.Errorf("--shape: %w", err)}
		}
		read := string(program)
		change.Shape = &read
	}
	if flags.Changed("at-once") {
		count, _ := flags.GetInt("at-once")
		change.AtOnce = &count
	}
	if flags.Changed("takes-back") {
		back, _ := flags.GetBool("takes-back")
		change.TakesBack = &back
	}
	return change, nil
}

// targetEntry is a target in lists and JSON, without its secrets.
type targetEntry struct {
	Code        string  `json:"code" table:"CODE"`
	State       string  `json:"state" table:"STATE"`
	URL         string  `json:"url" table:"URL"`
	AtOnce      int     `json:"at_once"`
	TakesBack   bool    `json:"takes_back"`
	SecretEnv   string  `json:"secret_env"`
	Shape       string  `json:"shape"`
	Waiting     int     `json:"waiting" table:"WAITING"`
	Pending     int     `json:"pending" table:"PENDING"`
	Refused     int     `json:"refused" table:"REFUSED"`
	Delivered   int64   `json:"delivered" table:"DELIVERED"`
	DeliveredAt *string `json:"delivered_at" table:"LAST"`
	FailingAt   *string `json:"failing_since" table:"FAILING SINCE"`
	Reason      string  `json:"reason"`
	DueAt       *string `json:"not_before"`
	CreatedAt   *string `json:"created_at"`
}

func newTargetEntry(f landfall.TargetFigures) targetEntry {
	t := &f.Target
	return targetEntry{
		Code: t.Code, State: string(t.State), URL: t.URL, AtOnce: t.AtOnce, TakesBack: t.TakesBack, SecretEnv: t.SecretEnv, Shape: t.Shape,
		Waiting: f.Waiting, Pending: f.Pending, Refused: f.Refused, Delivered: t.Delivered, DeliveredAt: timeOrNull(t.DeliveredAt),
		FailingAt: timeOrNull(t.FailingAt), Reason: t.Reason, DueAt: timeOrNull(t.DueAt), CreatedAt: timeOrNull(t.CreatedAt),
	}
}

// targetList lists targets with their state.
func targetList() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List targets and what waits for them", Args: checkArguments(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		found, err := operator.Targets(command.Context())
		if err != nil {
			return err
		}
		return printList(command, rowsOf(found, newTargetEntry))
	})
}

func targetShow() *cobra.Command {
	return onTarget(&cobra.Command{
		Use: "show CODE", Short: "Show a target and what waits for it",
	}, func(command *cobra.Command, operator *operate.Operator, code string) error {
		found, err := operator.ShowTarget(command.Context(), code)
		if err != nil {
			return err
		}
		entry := newTargetEntry(found)
		return printData(command, entry, func(out io.Writer) {
			fmt.Fprintf(out, "%s: %s\n  url        %s\n  at once    %d\n", escapeText(entry.Code), entry.State, escapeText(entry.URL), entry.AtOnce)
			fmt.Fprintf(out, "  takes back %t\n  delivered  %d\n  waiting    %d\n  pending    %d\n  refused    %d\n",
				entry.TakesBack, entry.Delivered, entry.Waiting, entry.Pending, entry.Refused)
			if !found.Target.FailingAt.IsZero() {
				fmt.Fprintf(out, "  failing    since %s: %s; next attempt %s\n", formatTime(found.Target.FailingAt), escapeText(entry.Reason), formatTime(found.Target.DueAt))
			}
		})
	})
}

// targetTest asks the target for something that changes nothing.
func targetTest() *cobra.Command {
	return onTarget(&cobra.Command{
		Use: "test CODE", Short: "Ask a target to delete an account that does not exist, and show the response",
	}, func(command *cobra.Command, operator *operate.Operator, code string) error {
		answer, err := operator.TestTarget(command.Context(), code)
		if err != nil {
			return err
		}
		if answer.Reason != "" {
			return fmt.Errorf("the target cannot be used: %s", answer.Reason)
		}
		return printDone(command, map[string]any{"action": "target.test", "code": code, "status": answer.Status, "milliseconds": answer.Took.Milliseconds()},
			"The target answered with status %d after %s, as it should.", answer.Status, answer.Took.Round(time.Millisecond))
	})
}

// targetRotate creates a new secret.
func targetRotate() *cobra.Command {
	var overlap string
	command := onTarget(&cobra.Command{
		Use: "rotate CODE", Short: "Create a new signing secret and print it once",
	}, func(command *cobra.Command, operator *operate.Operator, code string) error {
		both, err := parseDurationFlag("overlap", overlap)
		if err != nil {
			return err
		}
		secret, err := operator.RotateTarget(command.Context(), code, both)
		if err != nil {
			return err
		}
		return printSecret(command, secret, "Requests to target "+code+" are signed with both secrets for "+overlap+". The new one will not be shown again:",
			map[string]any{"code": code, "secret": secret})
	})
	command.Flags().StringVar(&overlap, "overlap", "1d", "how long requests are also signed with the old secret")
	return command
}

// targetReplay has refused deliveries sent again.
func targetReplay() *cobra.Command {
	var ids []string
	command := onTarget(&cobra.Command{
		Use: "replay CODE", Short: "Send refused deliveries again: all, or those given",
		Example: "  landfall target replay BILLING\n" +
			"  landfall target replay BILLING --delivery 1042-hga1g4gfv4",
	}, func(command *cobra.Command, operator *operate.Operator, code string) error {
		count, err := operator.RetryDeliveries(command.Context(), code, ids)
		if err != nil {
			return err
		}
		return printDone(command, map[string]any{"action": "target.replay", "code": code, "deliveries": count}, "%d refused deliveries will be sent again.", count)
	})
	command.Flags().StringArrayVar(&ids, "delivery", nil, "ID of a refused delivery; can be repeated")
	completeFlag(command, "delivery", noCompletion)
	return command
}

// targetBackfill delivers accounts that were created before there was a target.
func targetBackfill() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "backfill SUPPLIER", Short: "Deliver the accounts that were created before their supplier had a target",
		Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(supplierCodes), Annotations: map[string]string{longRunning: "yes"},
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		done, err := operator.Backfill(command.Context(), args[0], func(int) {})
		if err != nil {
			return err
		}
		return printDone(command, map[string]any{"action": "target.backfill", "supplier": args[0], "accounts": done}, "%d accounts will be delivered.", done)
	})
}

func deliveryCommand() *cobra.Command {
	return commandGroup("delivery", "Show deliveries to targets, and decide about refused ones", deliveryList(), deliveryShow(), deliveryRetry(), deliveryConfirm(), deliveryRestart())
}

type targetDeliveryEntry struct {
	ID        string  `json:"id" table:"ID"`
	Target    string  `json:"target" table:"TARGET"`
	Supplier  string  `json:"import_supplier" table:"SUPPLIER"`
	External  string  `json:"external_account_number" table:"ACCOUNT"`
	Number    string  `json:"platform_account_number"`
	Kind      string  `json:"kind" table:"KIND"`
	State     string  `json:"state" table:"STATE"`
	Attempts  int     `json:"attempts" table:"ATTEMPTS"`
	Status    int     `json:"status"`
	Reply     string  `json:"reply" table:"REPLY"`
	TargetID  string  `json:"target_id"`
	CreatedAt *string `json:"created_at"`
	DueAt     *string `json:"due_at" table:"NEXT"`
	SettledAt *string `json:"settled_at"`
	WaitsFor  string  `json:"waits_for"`
}

func newTargetDeliveryEntry(d landfall.TargetDelivery) targetDeliveryEntry {
	return targetDeliveryEntry{
		ID: deliveryID(d), Target: d.Target, Supplier: d.Key.Supplier, External: d.Key.External, Number: d.Number, Kind: string(d.Kind),
		State: string(d.State), Attempts: d.Attempts, Status: d.Status, Reply: d.Reply, TargetID: d.TargetID, CreatedAt: timeOrNull(d.At),
		DueAt: timeOrNull(d.DueAt), SettledAt: timeOrNull(d.SettledAt), WaitsFor: d.WaitsFor(),
	}
}

// maxDeliveries is how many deliveries a list has at most.
const maxDeliveries = 1000

// deliveryList lists deliveries of a target or of an account.
func deliveryList() *cobra.Command {
	var state, supplier, account string
	limit := 100
	command := onDatabase(&cobra.Command{
		Use: "list [TARGET]", Short: "List deliveries, oldest first, of a target or of an account", Args: checkArguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: completeArguments(targetCodes),
		Example: "  landfall delivery list BILLING --state refused\n" +
			"  landfall delivery list --supplier NORTH --account 1001",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		query := landfall.TargetDeliveryQuery{Target: strings.Join(args, ""), State: landfall.TargetDeliveryState(state), Limit: min(max(limit, 1), maxDeliveries)}
		if account != "" {
			query.Key = &landfall.Key{Supplier: supplier, External: account}
		}
		if (query.Key == nil) == (query.Target == "") {
			return usageError{errors.New("name either a target, or an account with --supplier and --account")}
		}
		found, err := operator.Deliveries(command.Context(), query)
		if err != nil {
			return err
		}
		return printList(command, rowsOf(found, newTargetDeliveryEntry))
	})
	flags := command.Flags()
	flags.StringVar(&state, "state", "", "waiting, pending, refused or delivered (default: any)")
	flags.StringVar(&supplier, "supplier", "", "import supplier of the account")
	flags.StringVar(&account, "account", "", "external account number")
	flags.IntVar(&limit, "limit", limit, "number of deliveries")
	completeFlag(command, "state", oneOf("waiting", "pending", "refused", "delivered"))
	completeFlag(command, "supplier", supplierCodes)
	completeFlag(command, "account", noCompletion)
	completeFlag(command, "limit", noCompletion)
	return command
}

// onDelivery completes a command about one delivery.
func onDelivery(command *cobra.Command, work func(*cobra.Command, *operate.Operator, string) error) *cobra.Command {
	command.Args, command.ValidArgsFunction = checkArguments(cobra.ExactArgs(1)), completeArguments(noCompletion)
	return onDatabase(command, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		return work(command, operator, args[0])
	})
}

func deliveryShow() *cobra.Command {
	return onDelivery(&cobra.Command{
		Use: "show ID", Short: "Show a delivery",
	}, func(command *cobra.Command, operator *operate.Operator, id string) error {
		found, err := operator.Delivery(command.Context(), id)
		if err != nil {
			return err
		}
		entry := newTargetDeliveryEntry(found)
		return printData(command, entry, func(out io.Writer) {
			printColumns(out, []targetDeliveryEntry{entry})
			if entry.WaitsFor != "" {
				fmt.Fprintf(out, "\nIt waits for %s.\n", entry.WaitsFor)
			}
		})
	})
}

// deliveryRetry has one refused delivery sent again.
func deliveryRetry() *cobra.Command {
	return onDelivery(&cobra.Command{
		Use: "retry ID", Short: "Send a refused delivery again",
	}, func(command *cobra.Command, operator *operate.Operator, id string) error {
		found, err := operator.Delivery(command.Context(), id)
		if err != nil {
			return err
		}
		count, err := operator.RetryDeliveries(command.Context(), found.Target, []string{id})
		if err != nil {
			return err
		}
		if found.Held {
			return fmt.Errorf("the delivery waits for %s", found.WaitsFor())
		}
		if count == 0 {
			return fmt.Errorf("the delivery is %s; only a refused one can be sent again", found.State)
		}
		return printDone(command, map[string]any{"action": "target.replay", "id": id}, "The delivery will be sent again.")
	})
}

// deliveryConfirm decides that a delivery is done.
func deliveryConfirm() *cobra.Command {
	return onDelivery(&cobra.Command{
		Use: "confirm ID", Short: "Count a refused or pending delivery as delivered, because it was handled at the target",
	}, func(command *cobra.Command, operator *operate.Operator, id string) error {
		if err := operator.ConfirmDelivery(command.Context(), id); err != nil {
			return err
		}
		return printDone(command, map[string]any{"action": "delivery.confirm", "id": id}, "The delivery counts as delivered; the next one of the account follows.")
	})
}

func deliveryRestart() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "restart SUPPLIER EXTERNAL", Short: "Deliver an account from the beginning, as it is now, with a new key",
		Args: checkArguments(cobra.ExactArgs(2)), ValidArgsFunction: completeArguments(supplierCodes, noCompletion),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		if err := operator.RestartDelivery(command.Context(), landfall.Key{Supplier: args[0], External: args[1]}); err != nil {
			return err
		}
		return printDone(command, map[string]any{"action": "delivery.restart", "import_supplier": args[0], "external_account_number": args[1]},
			"Account %s of %s will be delivered from the beginning.", args[1], args[0])
	})
}
