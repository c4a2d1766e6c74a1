package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faultCost is how long the cluster needed to recover from one fault, and how long a workspace was unavailable.
type faultCost struct {
	fault         string
	recovery      time.Duration // time until every shard has an owner that answers again
	longestOutage time.Duration // longest time during which a workspace could not be changed at any node
}

// availabilityProbe updates an agent of each workspace every 100 ms. If a node rejects the update, it tries the next node.
type availabilityProbe struct {
	mu   sync.Mutex
	last []time.Time // time of the last successful change, by workspace
	gaps []gap
}

type gap struct{ from, to time.Time }

// startProbe starts one goroutine per workspace, which updates an agent of the workspace until the test ends.
func (o *faultTest) startProbe() *availabilityProbe {
	c := &availabilityProbe{last: make([]time.Time, len(o.tenants))}
	over := make(chan struct{})
	var all sync.WaitGroup
	o.t.Cleanup(func() { close(over); all.Wait() })
	for i, one := range o.tenants {
		c.last[i] = time.Now()
		all.Go(func() {
			for front := i; ; {
				select {
				case <-over:
					return
				case <-time.After(100 * time.Millisecond):
				}
				if !acceptsWrite(o.nodes[front%len(o.nodes)], one) {
					front++
					continue
				}
				c.mu.Lock()
				c.gaps = append(c.gaps, gap{c.last[i], time.Now()})
				c.last[i] = time.Now()
				c.mu.Unlock()
			}
		})
	}
	return c
}

var shortTimeoutClient = &http.Client{Timeout: time.Second}

// acceptsWrite reports whether node s accepts an update of the workspace's agent within one second.
func acceptsWrite(s *service, one *shardTenant) bool {
	r, err := http.NewRequest(http.MethodPatch, "http://"+s.http+"/v1/agents/"+one.agent, strings.NewReader(fmt.Sprintf(`{"name": "terse %d"}`, time.Now().UnixNano())))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+one.key)
	r.Header.Set("Content-Type", "application/json")
	resp, err := shortTimeoutClient.Do(r)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// longestGap returns the longest time without a successful update of a workspace that ended after since or has not
// ended yet.
func (c *availabilityProbe) longestGap(since time.Time) (most time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range c.gaps {
		if g.to.After(since) {
			most = max(most, g.to.Sub(g.from))
		}
	}
	for _, at := range c.last {
		most = max(most, time.Since(at))
	}
	c.gaps = slices.DeleteFunc(c.gaps, func(g gap) bool { return g.to.Before(since) })
	return most
}

// expectNoCalls waits for d. It adds calls that start after the grace period to forbiddenCalls, because nodes
// cannot commit or renew leases during this time.
func (o *faultTest) expectNoCalls(d, grace time.Duration) {
	<-time.After(grace)
	before := len(o.answer.inviteCounts())
	<-time.After(max(d-grace, 0))
	o.forbiddenCalls += len(o.answer.inviteCounts()) - before
}

// findViolations describes each violated invariant: contacts called twice, forbidden calls, unserved workspaces,
// too many concurrent calls.
func (o *faultTest) findViolations() (all []string) {
	twice := 0
	for n, times := range o.answer.inviteCounts() {
		if times > 1 {
			if twice++; twice <= 3 {
				all = append(all, fmt.Sprintf("%s was called %d times", n, times))
			}
		}
	}
	if twice > 3 {
		all = append(all, fmt.Sprintf("and %d more", twice-3))
	}
	if o.forbiddenCalls > 0 {
		all = append(all, fmt.Sprintf("%d calls started while no commit or no lease renewal was possible", o.forbiddenCalls))
	}
	all = append(all, o.unservedWorkspaces...)
	left := unendedCalls(o.answer.logLines()) // calls whose BYE was seen, but without its time
	for i := range o.tenants {
		lines := slices.DeleteFunc(o.answer.logLines(), func(l scenarioLine) bool {
			return l.Kind == "INVITE" && !strings.HasPrefix(l.Number, contactPrefix(i)) || slices.Contains(left, l.CallID)
		})
		if most, _ := concurrencyAndStarts(lines); most > faultTestConcurrency {
			all = append(all, fmt.Sprintf("%d of at most %d concurrent calls of %s", most, faultTestConcurrency, contactPrefix(i)))
		}
	}
	return all
}

// placeInboundCalls makes the carrier place an inbound call through Kamailio to the next workspace. Like a carrier,
// it retries an unanswered call for a minute.
func (o *faultTest) placeInboundCalls() {
	o.t.Helper()
	if !o.full && len(o.costs)%6 != 1 {
		return
	}
	o.calls++
	for begun := time.Now(); ; {
		p := startSIPpAt(o.t, freePortOn(o.t, o.carrier), "uac-proxied", "-m", "1", "-s", inboundNumber(o.calls%len(o.tenants)), "-recv_timeout", "20000", o.dispatcher.String())
		err := <-p.done
		if err == nil {
			return
		}
		require.Less(o.t, time.Since(begun), time.Minute, "an inbound call is not answered: %v", err)
		o.retriedCalls++
	}
}

// checkInvariants checks that each contact was called once and has an outcome, that concurrency limits were kept,
// and that every endpoint received every event.
func (o *faultTest) checkInvariants() {
	t := o.t
	t.Helper()
	for i, one := range o.tenants {
		st := o.nodes[i%3].withKey(one.key).awaitCampaignEnd(one.campaign, 5*time.Minute)
		assert.Equal(t, o.contacts, st.Progress.Attempted, "nobody is forgotten")
		assert.Zero(t, st.Progress.Remaining)
	}
	assert.Empty(t, o.findViolations())
	rung := o.answer.inviteCounts()
	for i, one := range o.tenants {
		o.nodes[i%3].withKey(one.key).checkInterruptedAttempts(rung, o.contacts, nil)
	}
	o.awaitNoDialogs()
	r := o.nodes[0].receiver
	o.nodes[0].await("every event at every endpoint", 2*time.Minute, func() bool {
		delivered := make(map[string]map[string]bool)
		for _, d := range r.deliveries() {
			_, at, _ := strings.Cut(d.At, "endpoint=")
			var e struct {
				Data struct{ Contact struct{ Phone string } }
			}
			if json.Unmarshal(d.Body, &e) != nil || at == "" {
				continue
			}
			if delivered[at] == nil {
				delivered[at] = make(map[string]bool)
			}
			delivered[at][e.Data.Contact.Phone] = true
		}
		full := 0
		for at, phones := range delivered {
			tenant, _, _ := strings.Cut(at, "-")
			i, _ := strconv.Atoi(tenant)
			for phone := range phones {
				require.True(t, strings.HasPrefix(phone, contactPrefix(i)), "%s received an event of %s, which belongs to another workspace", at, phone)
			}
			if len(phones) == o.contacts {
				full++
			}
		}
		return full == len(o.tenants)*o.endpoints
	})
	for _, s := range o.nodes {
		assert.NotContains(t, s.logText(), "panic")
	}
	if !t.Failed() {
		o.logFigures()
	}
}

// awaitNoDialogs waits until the carrier has no open call. A call without a logged end counts as closed if it got a
// BYE or CANCEL, or if it never got an ACK because its node died.
func (o *faultTest) awaitNoDialogs() {
	o.t.Helper()
	o.nodes[0].await("the end of all dialogs", time.Minute, func() bool {
		left := make(map[string]bool)
		for _, id := range unendedCalls(o.answer.logLines()) {
			left[id] = true
		}
		if len(left) == 0 {
			return true
		}
		acknowledged, ended := make(map[string]bool), make(map[string]bool)
		for m := range strings.SplitSeq(o.answer.messages(), "-----------------------------------------------") {
			id := callIDLine.FindStringSubmatch(m)
			if id == nil || !left[id[1]] {
				continue
			}
			acknowledged[id[1]] = acknowledged[id[1]] || strings.Contains(m, "ACK sip:")
			ended[id[1]] = ended[id[1]] || strings.Contains(m, "BYE sip:") || strings.Contains(m, "CANCEL sip:")
		}
		o.deadAnswers = 0
		for id := range left {
			if acknowledged[id] && !ended[id] {
				o.answer.shownCallID = id
				return false
			}
			if !acknowledged[id] && !ended[id] {
				o.deadAnswers++
			}
		}
		return true
	})
}

// logFigures logs the recovery time and the longest outage for each fault.
func (o *faultTest) logFigures() {
	of := make(map[string][]faultCost)
	var names []string
	for _, one := range o.costs {
		if of[one.fault] == nil {
			names = append(names, one.fault)
		}
		of[one.fault] = append(of[one.fault], one)
	}
	slices.Sort(names)
	for _, name := range names {
		var took, silent []time.Duration
		for _, one := range of[name] {
			took, silent = append(took, one.recovery), append(silent, one.longestOutage)
		}
		slices.Sort(took)
		slices.Sort(silent)
		n := len(took)
		o.t.Logf("faults: %-46s %2d ×  all well after p50 %4.1f, most %4.1f s;  nothing of a workspace can be changed for p50 %4.1f, most %4.1f s", name, n,
			took[n/2].Seconds(), took[n-1].Seconds(), silent[n/2].Seconds(), silent[n-1].Seconds())
	}
	o.t.Logf("faults: %d contacts of %d workspaces, %d rung: none twice, none forgotten, at most %d lines each, %d endpoints told of every end; %d calls in answered, %d at a further try; %d answers came for a node that was dead",
		len(o.tenants)*o.contacts, len(o.tenants), len(o.answer.inviteCounts()), faultTestConcurrency, len(o.tenants)*o.endpoints, o.calls, o.retriedCalls, o.deadAnswers)
}
