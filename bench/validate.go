package main

import "context"

// measureValidate compares validation with a server that only decodes the same
// JSON and sends it back.
func measureValidate(ctx context.Context, p plan, _ *machinery, s *service) (result, error) {
	bare, err := startBare(ctx, "")
	if err != nil {
		return result{}, err
	}
	defer bare.stop()
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) {
			return s.load("/v1/data-import/validate-account/", account).run(ctx, p.length)
		},
		func() (sample, error) { return bare.load("/", account).run(ctx, p.length) })
	return result{ratio: ratio, ours: ours.of("accounts"), raw: raw.of("decoded by a bare server")}, err
}
