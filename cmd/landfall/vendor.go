package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/service/operate"
)

// vendorCommand holds the payment vendors and who may use them. Secrets are
// named, never taken: they live in the environment of the servers.
func vendorCommand() *cobra.Command {
	return commandGroup("vendor", "Payment vendors that know payment instructions",
		vendorSet(), vendorList(), vendorGrant(), vendorRevoke(), vendorRemove())
}

// vendorSet replaces a configuration as a whole, so that what is shown is what
// was typed last and nothing is left over from before.
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
			// The value may hold further equals signs; the name cannot.
			name, value, ok := strings.Cut(setting, "=")
			if !ok || name == "" {
				return usageError{errors.New("--setting: want NAME=VALUE")}
			}
			vendor.Settings[name] = value
		}
		if err := operator.SetVendor(command.Context(), vendor); err != nil {
			return err
		}
		// The answer tells what was set; the list tells who may use it as well.
		done := map[string]string{"action": "vendor.set", "code": vendor.Code, "adapter": vendor.Adapter, "secret_env": vendor.SecretEnv}
		return printData(command, done, func(out io.Writer) {
			fmt.Fprintf(out, "Vendor %s set.\n", escapeText(vendor.Code))
			if vendor.SecretEnv != "" {
				fmt.Fprintf(out, "Every server needs %s in its environment; the secret itself is kept nowhere.\n", escapeText(vendor.SecretEnv))
			}
		})
	})
	flags := command.Flags()
	flags.StringVar(&vendor.Adapter, "adapter", "", "stripe, gocardless, json or sandbox")
	flags.StringVar(&vendor.BaseURL, "base-url", "", "where the vendor is (default the adapter's own)")
	flags.StringVar(&vendor.SecretEnv, "secret-env", "", "NAME of the server's environment variable, VENDOR_…, that holds the vendor's key")
	flags.StringArrayVar(&vendor.Networks, "allow-network", nil, "private network the vendor may be reached in, as CIDR; may be given several times")
	completeFlag(command, "adapter", oneOf("stripe", "gocardless", "json", "sandbox"))
	flags.StringArrayVar(&settings, "setting", nil, "NAME=VALUE for the adapter, no secrets; may be given several times")
	return command
}

// vendorEntry is a vendor for machines.
type vendorEntry struct {
	Code      string            `json:"code"`
	Adapter   string            `json:"adapter"`
	BaseURL   string            `json:"base_url,omitempty"`
	SecretEnv string            `json:"secret_env,omitempty"`
	Networks  []string          `json:"networks"`
	Settings  map[string]string `json:"settings"`
	Suppliers []string          `json:"suppliers"` // null: every supplier may use it
	CreatedAt string            `json:"created_at"`
}

// newVendorEntry tells "nobody" from "everybody" among the suppliers.
func newVendorEntry(vendor operate.VendorFacts) vendorEntry {
	entry := vendorEntry{
		Code: vendor.Code, Adapter: vendor.Adapter, BaseURL: vendor.BaseURL, SecretEnv: vendor.SecretEnv,
		Networks: append([]string{}, vendor.Networks...), Settings: vendor.Settings, CreatedAt: formatTime(vendor.CreatedAt),
	}
	if !vendor.Grants.AllSuppliers {
		entry.Suppliers = append([]string{}, vendor.Grants.Suppliers...)
	}
	return entry
}

// vendorList shows settings and their values: none of them is a secret.
func vendorList() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "list", Short: "List all payment vendors", Args: checkArguments(cobra.NoArgs),
	}, func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		vendors, err := operator.Vendors(command.Context())
		if err != nil {
			return err
		}
		entries, rows := []vendorEntry{}, [][]string{}
		for _, vendor := range vendors {
			// People read "all" and "none" where machines read null and an empty list.
			entry, suppliers := newVendorEntry(vendor), "all"
			if !vendor.Grants.AllSuppliers {
				suppliers = cmp.Or(strings.Join(entry.Suppliers, " "), "none")
			}
			// Sorted, since a map has no order and two lists are to be compared.
			settings := []string{}
			for _, name := range slices.Sorted(maps.Keys(vendor.Settings)) {
				settings = append(settings, name+"="+vendor.Settings[name])
			}
			entries = append(entries, entry)
			rows = append(rows, []string{vendor.Code, vendor.Adapter, suppliers, vendor.BaseURL, vendor.SecretEnv,
				strings.Join(vendor.Networks, " "), strings.Join(settings, " ")})
		}
		return printData(command, entries, func(out io.Writer) {
			printTable(out, []string{"CODE", "ADAPTER", "SUPPLIERS", "BASE URL", "SECRET IN", "NETWORKS", "SETTINGS"}, rows)
		})
	})
}

// vendorGrant opens a vendor to one supplier or, said aloud, to all of them.
func vendorGrant() *cobra.Command {
	var everybody bool
	command := onDatabase(&cobra.Command{
		Use: "grant CODE SUPPLIER", Short: "Let a supplier use a payment vendor, and close it to those without a grant",
		Args: checkArguments(cobra.RangeArgs(1, 2)), ValidArgsFunction: completeArguments(vendorCodes, supplierCodes),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// Opening a vendor to all by leaving a word out would be too easy.
		if everybody != (len(args) == 1) {
			return usageError{errors.New("name one SUPPLIER, or say --all")}
		}
		if everybody {
			if err := operator.OpenVendor(command.Context(), args[0]); err != nil {
				return err
			}
			return printDone(command, map[string]string{"action": "vendor.grant", "code": args[0], "supplier": "*"},
				"Vendor %s is open to every supplier.", args[0])
		}
		if err := operator.GrantVendor(command.Context(), args[0], args[1]); err != nil {
			return err
		}
		return printDone(command, map[string]string{"action": "vendor.grant", "code": args[0], "supplier": args[1]},
			"Vendor %s granted to supplier %s; suppliers without a grant cannot use it.", args[0], args[1])
	})
	command.Flags().BoolVar(&everybody, "all", false, "open it to every supplier, also those to come")
	return command
}

// vendorRevoke closes it again; instructions already confirmed stay.
func vendorRevoke() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "revoke CODE SUPPLIER", Short: "Take a payment vendor away from a supplier", Args: checkArguments(cobra.ExactArgs(2)),
		ValidArgsFunction: completeArguments(vendorCodes, supplierCodes),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		if err := operator.RevokeVendor(command.Context(), args[0], args[1]); err != nil {
			return err
		}
		return printDone(command, map[string]string{"action": "vendor.revoke", "code": args[0], "supplier": args[1]},
			"Vendor %s revoked from supplier %s.", args[0], args[1])
	})
}

// vendorRemove forgets a configuration, not what it was used for.
func vendorRemove() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "remove CODE", Short: "Forget a payment vendor; instructions on accounts stay", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(vendorCodes),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		if err := operator.RemoveVendor(command.Context(), args[0]); err != nil {
			return err
		}
		return printDone(command, map[string]string{"action": "vendor.remove", "code": args[0]},
			"Vendor %s removed; payment instructions it confirmed stay on their accounts.", args[0])
	})
}
