package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// vendorCommand groups the commands for payment vendors. Secrets are only named; they are in the
// environment of the servers.
func vendorCommand() *cobra.Command {
	return commandGroup("vendor", "Manage payment vendors and which suppliers can use them",
		vendorSet(), vendorList(), vendorGrant(), vendorRevoke(), vendorRemove())
}

// vendorSet replaces the whole configuration, so that nothing is left over from before.
func vendorSet() *cobra.Command {
	var vendor landfall.Vendor
	var settings []string
	command := onDatabase(&cobra.Command{
		Use: "set CODE", Short: "Configure a payment vendor, or replace its whole configuration", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(vendorCodes),
		Example: "  landfall vendor set STRIPE --adapter stripe --secret-env VENDOR_STRIPE_KEY\n" +
			"  landfall vendor set SANDBOX --adapter sandbox",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		vendor.Code, vendor.Settings = args[0], map[string]string{}
		for _, setting := range settings {
			// The value may contain further equals signs.
			name, value, ok := strings.Cut(setting, "=")
			if !ok || name == "" {
				return usageError{errors.New("--setting: want NAME=VALUE")}
			}
			vendor.Settings[name] = value
		}
		if err := operator.SetVendor(command.Context(), vendor); err != nil {
			return err
		}
		done := map[string]string{"action": "vendor.set", "code": vendor.Code, "adapter": vendor.Adapter, "secret_env": vendor.SecretEnv}
		return printData(command, done, func(out io.Writer) {
			fmt.Fprintf(out, "Updated vendor %s.\n", escapeText(vendor.Code))
			if vendor.SecretEnv != "" {
				fmt.Fprintf(out, "Every server needs %s in its environment; the secret itself is not stored.\n", escapeText(vendor.SecretEnv))
			}
		})
	})
	flags := command.Flags()
	flags.StringVar(&vendor.Adapter, "adapter", "", "stripe, gocardless, json or sandbox")
	flags.StringVar(&vendor.BaseURL, "base-url", "", "base URL of the vendor (default: the adapter's own)")
	flags.StringVar(&vendor.SecretEnv, "secret-env", "", "NAME of the server's environment variable, VENDOR_…, with the vendor's key")
	flags.StringArrayVar(&vendor.Networks, "allow-network", nil, "private network in which the vendor may be reached, as CIDR; can be repeated")
	completeFlag(command, "adapter", oneOf("stripe", "gocardless", "json", "sandbox"))
	flags.StringArrayVar(&settings, "setting", nil, "NAME=VALUE for the adapter, no secrets; can be repeated")
	return command
}

// vendorEntry is a vendor in lists and JSON. None of its settings is a secret.
type vendorEntry struct {
	Code         string            `json:"code" table:"CODE"`
	Adapter      string            `json:"adapter" table:"ADAPTER"`
	SuppliersRow string            `json:"-" table:"SUPPLIERS"` // all, none or the codes
	BaseURL      string            `json:"base_url,omitempty" table:"BASE URL"`
	SecretEnv    string            `json:"secret_env,omitempty" table:"SECRET IN"`
	Networks     []string          `json:"networks" table:"NETWORKS"`
	Settings     map[string]string `json:"settings"`
	SettingsRow  []string          `json:"-" table:"SETTINGS"`
	Suppliers    []string          `json:"suppliers"` // null: every supplier can use it
	CreatedAt    string            `json:"created_at"`
}

func newVendorEntry(vendor operate.VendorFacts) vendorEntry {
	entry := vendorEntry{
		Code: vendor.Code, Adapter: vendor.Adapter, BaseURL: vendor.BaseURL, SecretEnv: vendor.SecretEnv, SuppliersRow: "all",
		Networks: append([]string{}, vendor.Networks...), Settings: vendor.Settings, SettingsRow: sortedPairs(vendor.Settings),
		CreatedAt: formatTime(vendor.CreatedAt),
	}
	if !vendor.Grants.AllSuppliers {
		entry.Suppliers = append([]string{}, vendor.Grants.Suppliers...)
		entry.SuppliersRow = cmp.Or(strings.Join(entry.Suppliers, " "), "none")
	}
	return entry
}

func vendorList() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List all payment vendors", Args: checkArguments(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		found, err := operator.Vendors(command.Context())
		if err != nil {
			return err
		}
		return printList(command, rowsOf(found, newVendorEntry))
	})
}

// vendorGrant grants a vendor to one supplier or, with --all, to every supplier.
func vendorGrant() *cobra.Command {
	var everybody bool
	command := onDatabase(&cobra.Command{
		Use: "grant CODE SUPPLIER", Short: "Grant a payment vendor to a supplier; suppliers without a grant lose access",
		Args: checkArguments(cobra.RangeArgs(1, 2)), ValidArgsFunction: completeArguments(vendorCodes, supplierCodes),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// Granting to all must be explicit.
		if everybody != (len(args) == 1) {
			return usageError{errors.New("name one SUPPLIER, or use --all")}
		}
		if everybody {
			if err := operator.OpenVendor(command.Context(), args[0]); err != nil {
				return err
			}
			return printDone(command, map[string]string{"action": "vendor.grant", "code": args[0], "supplier": "*"},
				"Every supplier can use vendor %s.", args[0])
		}
		if err := operator.GrantVendor(command.Context(), args[0], args[1]); err != nil {
			return err
		}
		return printDone(command, map[string]string{"action": "vendor.grant", "code": args[0], "supplier": args[1]},
			"Granted vendor %s to supplier %s. Suppliers without a grant cannot use it.", args[0], args[1])
	})
	command.Flags().BoolVar(&everybody, "all", false, "grant it to every supplier, including future ones")
	return command
}

// vendorRevoke revokes a grant. Confirmed instructions are kept.
func vendorRevoke() *cobra.Command {
	return changeCommand("vendor.revoke", &cobra.Command{
		Use: "revoke CODE SUPPLIER", Short: "Revoke a supplier's access to a payment vendor", ValidArgsFunction: completeArguments(vendorCodes, supplierCodes),
	}, "code supplier", func(operator *operate.Operator, ctx context.Context, args []string) error {
		return operator.RevokeVendor(ctx, args[0], args[1])
	}, "Revoked vendor %s from supplier %s.")
}

// vendorRemove removes a vendor's configuration. Confirmed instructions are kept.
func vendorRemove() *cobra.Command {
	return changeCommand("vendor.remove", &cobra.Command{
		Use: "remove CODE", Short: "Remove a payment vendor; instructions on accounts are kept", ValidArgsFunction: completeArguments(vendorCodes),
	}, "code", func(operator *operate.Operator, ctx context.Context, args []string) error {
		return operator.RemoveVendor(ctx, args[0])
	}, "Removed vendor %s. Payment instructions it confirmed are kept on their accounts.")
}
