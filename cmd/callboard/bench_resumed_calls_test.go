package main_test

import (
	"fmt"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip/siptest"
)

var handoverLogPattern = regexp.MustCompile(`(?m)^time=(\S+) level=INFO msg="live calls are handed over to another node"`)

var resumeLogPattern = regexp.MustCompile(`(?m)^time=(\S+) level=INFO msg="call of an earlier process resumed"`)

// BenchmarkClusterSurvival measures how many live calls resume after a node stops, and how long their agents are
// silent. The silence ends when another node, or the restarted node, gets the answer to its re-INVITE and sends audio.
func BenchmarkClusterSurvival(b *testing.B) {
	benchResults.addRowOnFailure(b)
	if !*benchCluster {
		b.Skip("make bench-cluster measures it")
	}
	const calls = 200
	const inOrder = "another node resumes them at once"
	for _, where := range []string{"another node resumes them", "the process restarts at once", inOrder} {
		b.Run(where, func(b *testing.B) {
			far := startSIPp(b, "uas-taken-up")
			var died, next *service
			// Both nodes use the same SIP address, but never at the same time, because SIPp always answers to the address of the
			// first request. Other tests use a phone that answers to the latest address.
			env := []string{surviveCalls, "CALLBOARD_MEDIA_PORTS=3000-4998", fmt.Sprint("CALLBOARD_SIP_ADDR=127.0.0.1:", siptest.Port(b))}
			if where != "the process restarts at once" {
				c := newNodeCluster(b, 2, append(env, fmt.Sprint("CALLBOARD_LEASE_SECONDS=", clusterLease.Seconds()))...)
				died, next = c.activeAndStandby()
			} else {
				died = newRaceFreeService(b, env...)
				next = died
			}
			died.removeLimits()
			died.createTrunk("", far.port)
			id := died.startCampaign(died.createWaitingAgent("wait"), phoneNumbers("+1202555", calls), object{"pacing": object{"calls_per_minute": 6000, "max_concurrent": calls}})
			died.await("live calls", time.Minute, func() bool {
				st, ok := died.campaignStatus(id)
				return ok && st.Progress.InProgress == calls && len(far.inviteCounts()) == calls
			})
			time.Sleep(5 * time.Second) // so that the spoken text is stored
			killed := time.Now()
			if where == inOrder {
				require.NoError(b, died.cmd.Process.Signal(syscall.SIGTERM))
			} else {
				died.kill9()
				killed = time.Now()
			}
			if next == died {
				next.start()
			}
			time.Sleep(15 * time.Second)
			if m := handoverLogPattern.FindStringSubmatch(died.logText()); m != nil {
				at, err := time.Parse(time.RFC3339Nano, m[1])
				require.NoError(b, err)
				killed = at // the agents were audible until the kill
			}
			var silent []time.Duration
			for _, m := range resumeLogPattern.FindAllStringSubmatch(next.logText(), -1) {
				at, err := time.Parse(time.RFC3339Nano, m[1])
				require.NoError(b, err)
				silent = append(silent, at.Sub(killed))
			}
			slices.Sort(silent)
			figure := fmt.Sprintf("%d of %d resume", len(silent), calls)
			if n := len(silent); n > 0 {
				figure += fmt.Sprintf("; silent for p50 %.2f, most %.2f s", silent[n/2].Seconds(), silent[n-1].Seconds())
			}
			what := "is killed (-9)"
			if where == inOrder {
				what = "stops (SIGTERM)"
			}
			benchResults.add(fmt.Sprintf("%d live calls of a node that %s, `survive_calls`: %s", calls, what, where), "", figure, false, nil)
		})
	}
}
