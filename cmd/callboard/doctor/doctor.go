// Package doctor looks at the machine, the settings and the neighbours of a
// service and says what is wrong and how to mend it. It changes nothing but a
// file of its own that it writes and removes. It knows no store and no actors:
// of a running service it asks the API, as others do.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/configs"
)

// State is how something is.
type State string

// The states of what was looked at.
const (
	OK   State = "ok"
	Warn State = "warn" // it works, and will hurt one day
	Bad  State = "bad"  // it does not work, or strangers come in
)

// Finding is one thing that was looked at.
type Finding struct {
	Check string `json:"check"` // names it for programs; docs/cli.md lists all
	State State  `json:"state"`
	What  string `json:"what"`
	Mend  string `json:"mend,omitempty"` // how, where it is not ok
}

// Visit is what the doctor looks at.
type Visit struct {
	Config  *configs.Config
	Faulty  error          // why there is no Config
	Running bool           // a service uses the data folder: its ports are taken by it
	Client  *client.Client // asks the service; nil: there is no key
	Reach   string         // an https:// URL that webhooks ought to reach; empty: none is tried
	Clock   string         // a URL whose Date tells the time; empty: only the kernel is asked
	Env     []string       // of the service, for keys of engines
	// Bucket tries where recordings lie, and says what it is and whether it
	// keeps what is deleted; nil: they lie on disk.
	Bucket func(context.Context) (place string, versioned bool, err error)
	// StoreFormat reads which store format the program must know, and tells it to
	// people; TooNew is its error where this program does not know it, fs.ErrNotExist
	// where there is no store yet. Nil: it is not looked at.
	StoreFormat func(context.Context) (string, error)
	TooNew      error
	// Nodes asks the store of leases who lives; nil: the store is this process's own.
	Nodes func(context.Context) ([]Node, error)
	// Ask connects to a node as the others do and says what its clock says, to
	// the second; Stranger is its error where the far end has another key.
	Ask      func(ctx context.Context, addr string) (time.Time, error)
	Stranger error

	Now        time.Time        // zero: the time of this machine
	Wall       func() time.Time // nil: the clock of this machine
	FileSystem int64            // the kind of the data folder's; 0: as the kernel says
	Buffer     int              // bytes of a SIP socket's buffer; 0: what the service asks for
	Free       int64            // bytes of disk below which nothing is committed; 0: the service's own

	mu      sync.Mutex
	found   []Finding
	alive   []Node // as Nodes said
	unknown error  // why it said nothing
}

// checkLimit bounds each check, and oneLimit what one of several neighbours may
// take of it.
const (
	checkLimit = time.Minute
	oneLimit   = 5 * time.Second
)

func (v *Visit) ok(check, what string, args ...any) {
	v.add(Finding{Check: check, State: OK, What: fmt.Sprintf(what, args...)})
}

func (v *Visit) warn(check, mend, what string, args ...any) {
	v.add(Finding{check, Warn, fmt.Sprintf(what, args...), mend})
}

func (v *Visit) bad(check, mend, what string, args ...any) {
	v.add(Finding{check, Bad, fmt.Sprintf(what, args...), mend})
}

func (v *Visit) add(f Finding) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.found = append(v.found, f)
}

// Look looks at everything and returns what it found, in the order of the
// checks.
func (v *Visit) Look(ctx context.Context) []Finding {
	if v.Now.IsZero() {
		v.Now = time.Now()
	}
	if v.Buffer == 0 {
		v.Buffer = sipBuffer
	}
	v.found = nil
	bounded, cancel := context.WithTimeout(ctx, checkLimit)
	v.live(bounded)
	cancel()
	if v.Faulty != nil {
		v.settings()
	}
	checks := []func(context.Context){v.openFiles, v.speech, v.clock}
	if v.Config != nil {
		v.ok("settings", "every setting keeps its rule")
		checks = append(checks, v.folder, v.storeFormat, v.disk, v.masterKey, v.leftKeys, v.ports, v.mediaPorts, v.buffers, v.addresses,
			v.certificates, v.egress, v.engines, v.redis, v.nodes, v.bucket, v.service)
	}
	for _, check := range checks {
		bounded, cancel := context.WithTimeout(ctx, checkLimit)
		check(bounded)
		cancel()
		if ctx.Err() != nil {
			break
		}
	}
	return v.found
}

// Worst is the worst state of a list.
func Worst(list []Finding) State {
	worst := OK
	for _, f := range list {
		if f.State == Bad || f.State == Warn && worst == OK {
			worst = f.State
		}
	}
	return worst
}

func (v *Visit) settings() {
	var wrong *configs.InvalidError
	if !errors.As(v.Faulty, &wrong) {
		v.bad("settings", "give it a file of settings that can be read", "%v", v.Faulty)
		return
	}
	for _, p := range wrong.Problems {
		v.bad("settings", "see docs/configuration.md", "%s", p)
	}
}

// service asks the running one what only it knows.
func (v *Visit) service(ctx context.Context) {
	if v.Client == nil {
		if v.Running {
			v.warn("service", "--key, CALLBOARD_KEY or a profile lets trunks and endpoints be looked at", "the service runs, but there is no key to ask it with")
		}
		return
	}
	once := *v.Client
	once.Retries = 0 // what is not ready is not ready in a second either
	if _, err := once.Readyz(ctx); err != nil {
		var refusal *client.Error
		if !errors.As(err, &refusal) {
			v.bad("service", "start it, or name it by --url", "nobody answers at %s: %v", v.Client.URL, err)
			return
		}
		v.bad("ready", "docs/operations.md says what each reason wants", "the service cannot work: %s", reason(refusal))
	} else {
		v.ok("ready", "the service can place and take calls")
	}
	v.trunks(ctx)
	v.endpoints(ctx)
}

func reason(e *client.Error) string {
	if e.Code == "" && len(e.Body) > 0 {
		return string(e.Body)
	}
	return e.Message
}

func (v *Visit) trunks(ctx context.Context) {
	n := 0
	for t, err := range v.Client.AllTrunks(ctx, client.ListTrunksQuery{}) {
		if err != nil {
			v.refused("trunks", err)
			return
		}
		if t.Simulator {
			continue
		}
		n++
		if t.Register && t.Health != nil && t.Health.Registration != nil && t.Health.Registration.Status != "registered" {
			v.bad("trunk_registration", "check username, password and realm with the carrier", "trunk %s (%s) is not registered: %s", t.Name, t.ID, t.Health.LastError)
		}
		if t.Srtp == "off" && overTLS(&t) {
			v.warn("trunk_srtp", "set srtp to optional or required", "trunk %s (%s) signals over TLS, and its sound is in the clear", t.Name, t.ID)
		}
		one, cancel := context.WithTimeout(ctx, oneLimit)
		got, err := v.Client.TestTrunk(one, t.ID)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			v.noOptions(&t, "it", "no answer in time")
			continue
		}
		if err != nil {
			v.refused("trunk", err)
			continue
		}
		for _, x := range got.Targets {
			if !x.Reachable {
				v.noOptions(&t, x.Target, x.Error)
				continue
			}
			v.ok("trunk", "trunk %s: %s answers %d in %d ms", t.Name, x.Target, x.Code, x.ResponseTimeMs)
		}
	}
	if n == 0 {
		v.warn("trunks", "callboard trunks create, or callboard init", "there is no trunk: only the built-in phones can be rung")
	}
}

// noOptions judges a trunk that answers no OPTIONS by its calls of the last hour: some
// carriers answer none.
func (v *Visit) noOptions(t *client.Trunk, target, why string) {
	const mend = "look at the host, the port and the firewall between"
	calls := client.TrunkQuality{}
	if t.Quality != nil {
		calls = *t.Quality
	}
	switch {
	case calls.Answered > 0 || calls.InboundCalls > 0:
		v.ok("trunk", "trunk %s: %s does not answer OPTIONS, as some carriers do not, but calls go over it: %d of %d were answered in the last hour, %d came in",
			t.Name, target, calls.Answered, calls.Attempts, calls.InboundCalls)
	case calls.Attempts > 0:
		v.bad("trunk", mend, "trunk %s: %s does not answer OPTIONS (%s), and none of %d calls in the last hour was answered", t.Name, target, why, calls.Attempts)
	default:
		v.warn("trunk", mend+"; some carriers answer no OPTIONS: place a call over it", "trunk %s: %s does not answer OPTIONS: %s", t.Name, target, why)
	}
}

func overTLS(t *client.Trunk) bool {
	for _, p := range t.Proxies {
		if p.Transport == "tls" {
			return true
		}
	}
	return false
}

func (v *Visit) endpoints(ctx context.Context) {
	for h, err := range v.Client.AllWebhooks(ctx, client.ListWebhooksQuery{}) {
		if err != nil {
			v.refused("endpoints", err)
			return
		}
		switch {
		case h.Status == "disabled":
			v.bad("endpoint_disabled", "mend the receiver, then callboard webhooks resume "+h.ID+"; callboard webhooks replay sends again what failed", "endpoint %s (%s) is disabled: %s", h.ID, h.URL, h.DisabledReason)
		case h.FailingSince != nil:
			v.warn("endpoint_failing", "callboard webhooks logs "+h.ID+" shows what it answers", "endpoint %s (%s) fails since %s", h.ID, h.URL, h.FailingSince.Format(time.RFC3339))
		default:
			v.ok("endpoint", "endpoint %s is %s", h.ID, h.Status)
		}
	}
}

// refused tells that the service did not answer a question.
func (v *Visit) refused(check string, err error) {
	var refusal *client.Error
	if errors.As(err, &refusal) && (refusal.Status == http.StatusUnauthorized || refusal.Status == http.StatusForbidden) {
		v.bad(check, "take a key that may read and test them", "the key may not: %v", err)
		return
	}
	v.bad(check, "ask again, or look into the log of the service", "%v", err)
}
