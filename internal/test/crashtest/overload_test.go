package crashtest_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/test/crashtest"
	"landfall/internal/test/tooltest"
)

// Far more callers come than can be served, because the disk of the database is
// slow. A caller that would wait too long gets an error that says when to
// retry. No connection is cut, there are no other errors, memory is bounded,
// and everything works again when the disk does.
func TestOverloadedServerRefusesWithRetryAfter(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	const callers = 400
	cluster, database := ownCluster(t, "wal_level=replica", "max_wal_senders=4")
	f := newFleet(t, database, 1)
	c := &caller{fleet: f, history: &crashtest.History{}}
	l := newLoad("O", seedOf(t))
	l.bulk = 200_000
	crowd := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}, Timeout: 40 * time.Second}
	stall(t, cluster, "nobody")
	var mutex sync.Mutex
	var waiting sync.WaitGroup
	answers := map[string]int{}
	for i := range callers {
		random := rand.New(rand.NewPCG(l.seed, uint64(i)))
		intent := l.staging(landfall.Key{Supplier: supplier, External: fmt.Sprintf("%s-%05d", l.name, i)}, random, creatable)
		waiting.Go(func() {
			entry := c.history.Begin(intent)
			status, retry, err := f.crowd(crowd, intent)
			mutex.Lock()
			defer mutex.Unlock()
			if err != nil {
				t.Errorf("a caller was cut off: %v", err)
				return
			}
			c.history.End(entry, crashtest.Answer{Status: status})
			if answers[strconv.Itoa(status)]++; status == http.StatusServiceUnavailable && retry < 1 {
				t.Error("a caller was refused without Retry-After")
			}
		})
	}
	eventually(t, 30*time.Second, "most callers are refused", func() bool {
		mutex.Lock()
		defer mutex.Unlock()
		return answers["503"] > callers/2
	})
	stall(t, cluster, "")
	waiting.Wait()
	t.Logf("answers: %v, memory: %d MiB", answers, f.memory())
	if answers["503"]+answers["429"]+answers["201"] != callers {
		t.Errorf("answers %v: want only refusals and stagings", answers)
	}
	if took := f.memory(); took > 512 {
		t.Errorf("the server took %d MiB", took)
	}
	c.recovers(l)
	c.quiet()
	checkHistory(c, l.name)
	f.checkAlive()
}

// crowd sends a staging and returns its status and Retry-After.
func (f *fleet) crowd(client *http.Client, intent crashtest.Intent) (status, retry int, err error) {
	path, body := wire(intent)
	request, err := http.NewRequest(http.MethodPost, f.replicas[0].address()+path, bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Token "+f.token)
	response, err := client.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	retry, _ = strconv.Atoi(response.Header.Get("Retry-After")) // 0 when there is none
	return response.StatusCode, retry, err
}

// memory returns the peak memory of the first server in MiB, or 0 where the
// system does not report it.
func (f *fleet) memory() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.replicas[0].process.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.Atoi(kilobytes)
	if err != nil {
		f.t.Error(err)
	}
	return n / 1024
}
