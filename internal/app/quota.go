package app

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/httpapi"
	"landfall/internal/quota"
)

// quotaReadings shows what quotas have refused. Who it was is in the log: the
// line of the request has the organisation and the code.
func quotaReadings(keeper *quota.Keeper) []httpapi.Reading {
	var readings []httpapi.Reading
	for _, name := range []string{landfall.QuotaRequests, landfall.QuotaBytes, landfall.QuotaCreations} {
		readings = append(readings, httpapi.Reading{
			Name: "landfall_quota_" + name + "_refused_total", Help: "Requests refused because of the quota " + name + ".",
			Counts: true, Read: func() float64 { return float64(keeper.Refused(name)) },
		})
	}
	return readings
}

// bytesEvery is how exactly the bytes of a day are counted over all servers.
const bytesEvery = 5 * time.Second

func (a *App) keepBytes(ctx context.Context) {
	for ended := false; !ended; {
		select {
		case <-time.After(bytesEvery):
		case <-ctx.Done():
			ended = true
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastUses)
		if err := a.quota.KeepBytes(last); err != nil {
			a.log.Warn("what organisations have sent is not written down yet", "error", err)
		}
		cancel()
	}
}
