package main

import "context"

// measureValidate compares validation with a server that only decodes the same
// JSON and sends it back.
func measureValidate(ctx context.Context, p plan, _ *harness, s *service) (measured, error) {
	bare, err := startBare(ctx, "")
	if err != nil {
		return measured{}, err
	}
	defer bare.stop()
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) {
			return s.load("/v1/data-import/validate-account/", appendAccount).run(ctx, p.length)
		},
		func() (sample, error) { return bare.load("/", appendAccount).run(ctx, p.length) })
	return measured{ratio: ratio, ours: ours.of("accounts"), raw: raw.of("decoded by a bare server")}, err
}
