package run_test

import (
	"fmt"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/limits"
)

// TestRunCreatesOneAccountPerSupplyPoint stages accounts of which three each have
// the same supply point, while the rule only warns, and makes the rule an error
// before a run on two replicas.
func TestRunCreatesOneAccountPerSupplyPoint(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture) {
		const points, sharers = 20, 3
		for i := range points * sharers {
			body := fmt.Sprintf(`{"import_supplier":"A","external_account_number":"%04d","customers":[{"family_name":"N"}],
				"supply_addresses":[{"supply_address1":"%d High Street","supply_points":[
				{"identifier":"%d","supply_type":"GAS","supply_start_date":"2020-01-01"}]}]}`, i, i, i%points)
			receipt, err := s.intake.Stage(t.Context(), who("A1"), []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.intake.WarnOfOthers(t.Context(), who("A1"), &receipt); err != nil {
				t.Fatal(err)
			}
			warned := len(receipt.Warnings) == 1 && receipt.Warnings[0].Code == contract.CodeSupplyPointElsewhere &&
				receipt.Warnings[0].Attr == "supply_addresses.0.supply_points.0.identifier"
			if warned != (i >= points) {
				t.Errorf("account %d: %+v", i, receipt.Warnings)
			}
		}
		s.setSupplier(func(supplier *landfall.Supplier) {
			supplier.Severities = map[string]landfall.Severity{contract.CodeSupplyPointElsewhere: landfall.SeverityError}
		})
		time.Sleep(limits.SupplierCache) // a cached supplier may be used for this long
		s.work(2)
		run := s.start("A1", landfall.RunPlan{})
		s.finished(run.ID, landfall.RunTally{Selected: points * sharers, Succeeded: points, Failed: points * (sharers - 1)})
		summary, err := s.store.FailureSummary(t.Context(), "A")
		if err != nil || len(summary.Groups) != 1 || summary.Groups[0].Code != contract.CodeSupplyPointElsewhere || summary.Groups[0].Accounts != points*(sharers-1) {
			t.Errorf("the failures are %+v, %v", summary.Groups, err)
		}
	})
}
