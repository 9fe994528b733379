package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/operate"
)

func vendorCommand() *cobra.Command {
	return group("vendor", "Payment vendors that know payment instructions", vendorSet(), vendorList(), vendorRemove())
}

func vendorSet() *cobra.Command {
	var vendor landfall.Vendor
	var settings []string
	command := onDatabase(&cobra.Command{
		Use: "set CODE", Short: "Configure a payment vendor, or replace its whole configuration", Args: usage(cobra.ExactArgs(1)),
		Example: "  landfall vendor set STRIPE --adapter stripe --secret-env STRIPE_KEY\n" +
			"  landfall vendor set SANDBOX --adapter sandbox",
	}, func(command *cobra.Command, operator *operate.Operator, arguments []string) error {
		vendor.Code, vendor.Settings = arguments[0], map[string]string{}
		for _, setting := range settings {
			name, value, ok := strings.Cut(setting, "=")
			if !ok || name == "" {
				return usageError{errors.New("--setting: want NAME=VALUE")}
			}
			vendor.Settings[name] = value
		}
		if err := operator.SetVendor(command.Context(), vendor); err != nil {
			return err
		}
		out := command.OutOrStdout()
		fmt.Fprintf(out, "Vendor %s set.\n", vendor.Code)
		if vendor.SecretEnv != "" {
			fmt.Fprintf(out, "Every server needs %s in its environment; the secret itself is kept nowhere.\n", vendor.SecretEnv)
		}
		return nil
	})
	flags := command.Flags()
	flags.StringVar(&vendor.Adapter, "adapter", "", "stripe, gocardless, json or sandbox")
	flags.StringVar(&vendor.BaseURL, "base-url", "", "where the vendor is (default the adapter's own)")
	flags.StringVar(&vendor.SecretEnv, "secret-env", "", "NAME of the server's environment variable that holds the vendor's key")
	flags.StringArrayVar(&vendor.Networks, "allow-network", nil, "private network the vendor may be reached in, as CIDR; may be given several times")
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
	CreatedAt string            `json:"created_at"`
}

func vendorList() *cobra.Command {
	return onDatabase(listing(&cobra.Command{
		Use: "list", Short: "List all payment vendors", Args: usage(cobra.NoArgs),
	}), func(command *cobra.Command, operator *operate.Operator, _ []string) error {
		vendors, err := operator.Vendors(command.Context())
		if err != nil {
			return err
		}
		entries, rows := []vendorEntry{}, [][]string{}
		for _, vendor := range vendors {
			entry := vendorEntry{
				Code: vendor.Code, Adapter: vendor.Adapter, BaseURL: vendor.BaseURL, SecretEnv: vendor.SecretEnv,
				Networks: append([]string{}, vendor.Networks...), Settings: vendor.Settings, CreatedAt: instant(vendor.CreatedAt),
			}
			settings := []string{}
			for _, name := range slices.Sorted(maps.Keys(vendor.Settings)) {
				settings = append(settings, name+"="+vendor.Settings[name])
			}
			entries = append(entries, entry)
			rows = append(rows, []string{vendor.Code, vendor.Adapter, vendor.BaseURL, vendor.SecretEnv,
				strings.Join(vendor.Networks, " "), strings.Join(settings, " ")})
		}
		return show(command, entries, func(out io.Writer) {
			table(out, []string{"CODE", "ADAPTER", "BASE URL", "SECRET IN", "NETWORKS", "SETTINGS"}, rows)
		})
	})
}

func vendorRemove() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "remove CODE", Short: "Forget a payment vendor; instructions on accounts stay", Args: usage(cobra.ExactArgs(1)),
	}, func(command *cobra.Command, operator *operate.Operator, arguments []string) error {
		if err := operator.RemoveVendor(command.Context(), arguments[0]); err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "Vendor %s removed; payment instructions it confirmed stay on their accounts.\n", clean(arguments[0]))
		return nil
	})
}
