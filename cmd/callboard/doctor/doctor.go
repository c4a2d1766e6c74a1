// Package doctor looks at the machine, the settings and the neighbours of a
// service and says what is wrong and how to mend it. It changes nothing but a
// file of its own that it writes and removes. It knows no store and no actors:
// of a running service it asks the API, as others do.
package doctor

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/configs"
)

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

	report  report
	alive   []Node // as Nodes said
	unknown error  // why it said nothing
}

// checkLimit bounds each check, and oneLimit what one of several neighbours may
// take of it.
const (
	checkLimit = time.Minute
	oneLimit   = 5 * time.Second
)

// Look looks at everything and returns what it found, in the order of the
// checks.
func (v *Visit) Look(ctx context.Context) []Finding {
	if v.Now.IsZero() {
		v.Now = time.Now()
	}
	if v.Buffer == 0 {
		v.Buffer = sipBuffer
	}
	v.report.found = nil
	bounded, cancel := context.WithTimeout(ctx, checkLimit)
	v.live(bounded)
	cancel()
	if v.Faulty != nil {
		v.settings()
	}
	checks := []func(context.Context){v.openFiles, v.speech, v.clock}
	if v.Config != nil {
		v.report.ok("settings", "every setting keeps its rule")
		network := networkChecker{report: &v.report, config: v.Config, running: v.Running, buffer: v.Buffer}
		certificates := certificateChecker{report: &v.report, config: v.Config, now: v.Now}
		clock := clockChecker{report: &v.report, wall: v.Wall}
		redis := redisChecker{report: &v.report, config: v.Config, clock: clock}
		nodes := nodeChecker{report: &v.report, config: v.Config, clock: clock, nodes: v.alive, err: v.unknown, ask: v.Ask, stranger: v.Stranger, fileSystem: v.FileSystem}
		service := serviceChecker{report: &v.report, client: v.Client, running: v.Running}
		checks = append(checks, v.folder, v.storeFormat, v.disk, v.masterKey, v.leftKeys, network.ports, network.mediaPorts, network.buffers, network.addresses,
			certificates.check, v.egress, v.engines, redis.check)
		if v.Nodes != nil {
			checks = append(checks, nodes.check)
		}
		checks = append(checks, v.bucket, service.check)
	}
	for _, check := range checks {
		bounded, cancel := context.WithTimeout(ctx, checkLimit)
		check(bounded)
		cancel()
		if ctx.Err() != nil {
			break
		}
	}
	return v.report.found
}

func (v *Visit) settings() {
	var wrong *configs.InvalidError
	if !errors.As(v.Faulty, &wrong) {
		v.report.bad("settings", "give it a file of settings that can be read", "%v", v.Faulty)
		return
	}
	for _, p := range wrong.Problems {
		v.report.bad("settings", "see docs/configuration.md", "%s", p)
	}
}

// live asks who lives. Where one of them is at this machine's address it runs
// here: a node that has not the work has no local socket that would tell.
func (v *Visit) live(ctx context.Context) {
	v.alive, v.unknown = nil, nil
	if v.Nodes == nil || v.Config == nil {
		return
	}
	if v.alive, v.unknown = v.Nodes(ctx); v.unknown != nil {
		return
	}
	own := v.Config.NodeAddr
	if own.IsValid() && slices.ContainsFunc(v.alive, func(n Node) bool { return n.Addr == own.String() }) {
		v.Running = true
	}
}
