package auth

import (
	"fmt"
	"testing"
	"time"
)

// A provider gives a customer 65,536 IPv6 networks. Each of them counted as another
// source.
func TestNetworksOfOneSiteCountedAsManySources(t *testing.T) {
	limiter, failures, now := newLoginLimiter(), newFailureLimiter(Limits{}), time.Now()
	signIns, keys := 0, 0
	for i := range 1000 {
		address := fmt.Sprintf("2001:db8:7:%x::1", i)
		if limiter.take(fmt.Sprint("name", i), address, "", now) == 0 {
			signIns++
		}
		if failures.fail(address, "", now) == 0 {
			keys++
		}
	}
	if signIns > 100 || keys > 100 {
		t.Errorf("of 1000 attempts %d sign-ins and %d keys were allowed", signIns, keys)
	}
	if limiter.take("ada", "2001:db8:8::1", "", now) != 0 || limiter.take("ada", "2001:db8:7::1", "her browser", now) != 0 {
		t.Error("others have to wait too")
	}
}
