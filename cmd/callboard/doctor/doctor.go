// Package doctor checks the machine, the settings and the peers of a service, and reports
// what is wrong and how to repair it. The only file that it writes is a temporary one in
// the data folder. It imports neither store nor actors: a running service is queried by
// the API.
package doctor

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/configs"
)

// Diagnosis is the subject of the checks: a service by its settings, and the functions
// that reach what this package does not import.
type Diagnosis struct {
	Config  *configs.Config
	Faulty  error          // of the settings, if Config is nil
	Running bool           // a service uses the data folder and holds its ports
	Client  *client.Client // queries the running service; nil: there is no key
	Reach   string         // an https:// URL that webhooks must reach; empty: not checked
	Clock   string         // a URL whose Date header has the right time; empty: not checked
	Env     []string       // environment of the service, for keys of engines
	// Bucket writes, reads and deletes a blob. It returns the name of the blob store and
	// whether the store keeps versions of deleted blobs. Nil: blobs are on disk.
	Bucket func(context.Context) (place string, versioned bool, err error)
	// StoreFormat describes the format of the store. Its error is TooNew if this program
	// does not know the format, fs.ErrNotExist if there is no store yet. Nil: not checked.
	StoreFormat func(context.Context) (string, error)
	TooNew      error
	// Nodes returns the live nodes of the cluster. Nil: the store is used by one process.
	Nodes func(context.Context) ([]Node, error)
	// Ask connects to a node and returns the time of its clock, to the second. Its error
	// is Stranger if the node has another key.
	Ask      func(ctx context.Context, addr string) (time.Time, error)
	Stranger error

	Now        time.Time        // zero: the time of this machine
	Wall       func() time.Time // nil: the clock of this machine
	FileSystem int64            // type of the data folder's file system; 0: as the kernel reports
	Buffer     int              // bytes of a SIP socket's buffer; 0: as the service requests
	Free       int64            // bytes of free disk below which nothing is committed; 0: as the service requires

	report   report
	nodes    []Node // returned by Nodes
	nodesErr error  // returned by Nodes
}

// checkLimit bounds a check, oneLimit the part of it that queries one of several peers.
const (
	checkLimit = time.Minute
	oneLimit   = 5 * time.Second
)

// Run runs all checks and returns their findings in the order of the checks.
func (d *Diagnosis) Run(ctx context.Context) []Finding {
	if d.Now.IsZero() {
		d.Now = time.Now()
	}
	if d.Buffer == 0 {
		d.Buffer = sipBuffer
	}
	d.report.found = nil
	bounded, cancel := context.WithTimeout(ctx, checkLimit)
	d.readNodes(bounded)
	cancel()
	if d.Faulty != nil {
		d.settings()
	}
	checks := []func(context.Context){d.openFiles, d.speech, d.clock}
	if d.Config != nil {
		d.report.ok("settings", "every setting keeps its rule")
		network := networkChecker{report: &d.report, config: d.Config, running: d.Running, buffer: d.Buffer}
		certificates := certificateChecker{report: &d.report, config: d.Config, now: d.Now}
		clock := clockChecker{report: &d.report, wall: d.Wall}
		redis := redisChecker{report: &d.report, config: d.Config, clock: clock}
		nodes := nodeChecker{report: &d.report, config: d.Config, clock: clock, nodes: d.nodes, err: d.nodesErr, ask: d.Ask, stranger: d.Stranger, fileSystem: d.FileSystem}
		service := serviceChecker{report: &d.report, client: d.Client, running: d.Running}
		checks = append(checks, d.folder, d.storeFormat, d.disk, d.masterKey, d.leftKeys, network.ports, network.mediaPorts, network.buffers, network.addresses,
			certificates.check, d.egress, d.engines, redis.check)
		if d.Nodes != nil {
			checks = append(checks, nodes.check)
		}
		checks = append(checks, d.bucket, service.check)
	}
	for _, check := range checks {
		bounded, cancel := context.WithTimeout(ctx, checkLimit)
		check(bounded)
		cancel()
		if ctx.Err() != nil {
			break
		}
	}
	return d.report.found
}

func (d *Diagnosis) settings() {
	var wrong *configs.InvalidError
	if !errors.As(d.Faulty, &wrong) {
		d.report.bad("settings", "give it a file of settings that can be read", "%v", d.Faulty)
		return
	}
	for _, p := range wrong.Problems {
		d.report.bad("settings", "see docs/configuration.md", "%s", p)
	}
}

// readNodes reads the live nodes. The service runs here if one of them has the node_addr
// of this machine: a node that owns no shard has no local socket.
func (d *Diagnosis) readNodes(ctx context.Context) {
	d.nodes, d.nodesErr = nil, nil
	if d.Nodes == nil || d.Config == nil {
		return
	}
	if d.nodes, d.nodesErr = d.Nodes(ctx); d.nodesErr != nil {
		return
	}
	own := d.Config.Node.Addr
	if own.IsValid() && slices.ContainsFunc(d.nodes, func(n Node) bool { return n.Addr == own.String() }) {
		d.Running = true
	}
}
