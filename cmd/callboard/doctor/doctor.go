// Package doctor checks the machine, the settings and the peers of a service, and reports faults with remedies.
//
// The checks change nothing except for a temporary file in the data folder. The package imports neither the store
// nor the actors: it queries a running service through the API.
package doctor

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/configs"
)

// Diagnosis holds the settings and functions with which the doctor checks a service. The caller provides functions
// that need packages which this package must not import.
type Diagnosis struct {
	Config      *configs.Config
	ConfigError error          // why the settings are invalid; nil unless Config is nil
	Running     bool           // whether a service uses the data folder and holds its ports
	Client      *client.Client // client of the running service; nil: there is no key
	ReachURL    string         // https:// URL that webhooks must reach; empty: not checked
	ClockURL    string         // URL whose Date header has the correct time; empty: not checked
	Env         []string       // environment of the service, with keys of engines
	// TryBucket writes, reads and deletes a blob. It returns the name of the blob store, and whether the store
	// keeps versions of deleted blobs. TryBucket is nil if blobs are stored on disk.
	TryBucket func(context.Context) (place string, versioned bool, err error)
	// ReadStoreFormat describes the format of the store. It returns UnknownFormatError if this program does not
	// know the format, or fs.ErrNotExist if there is no store yet. Nil skips the check.
	ReadStoreFormat    func(context.Context) (string, error)
	UnknownFormatError error
	// ListNodes returns the live nodes of the cluster. ListNodes is nil if only one process uses the store.
	ListNodes func(context.Context) ([]Node, error)
	// ProbeNode connects to a node and returns the time of its clock, truncated to seconds. It returns
	// WrongKeyError if the node has another master key.
	ProbeNode     func(ctx context.Context, addr string) (time.Time, error)
	WrongKeyError error

	Now          time.Time        // zero: the time of this machine
	ReadClock    func() time.Time // nil: the clock of this machine
	FileSystem   int64            // type of the data folder's file system; 0: the type that the kernel reports
	SocketBuffer int              // wanted buffer of a SIP socket in bytes; 0: the value that the service uses
	MinFreeDisk  int64            // minimum of free bytes for commits; 0: the value that the service uses

	report       report
	liveNodes    []Node // result of ListNodes
	liveNodesErr error  // error of ListNodes
}

// checkTimeout is the time limit of one check. peerTimeout limits the requests of a check to one other machine.
const (
	checkTimeout = time.Minute
	peerTimeout  = 5 * time.Second
)

// Run runs all checks and returns their findings in the order of the checks.
func (d *Diagnosis) Run(ctx context.Context) []Finding {
	if d.Now.IsZero() {
		d.Now = time.Now()
	}
	if d.SocketBuffer == 0 {
		d.SocketBuffer = sipSocketBuffer
	}
	d.report.findings = nil
	bounded, cancel := context.WithTimeout(ctx, checkTimeout)
	d.readNodes(bounded)
	cancel()
	if d.ConfigError != nil {
		d.reportInvalidSettings()
	}
	checks := []func(context.Context){d.checkOpenFiles, d.checkSpeechPrograms, d.checkSpeechDetection, d.checkClock}
	if d.Config != nil {
		d.report.ok("settings", "all settings are valid")
		network := networkChecker{report: &d.report, config: d.Config, running: d.Running, wantedBuffer: d.SocketBuffer}
		certificates := certificateChecker{report: &d.report, config: d.Config, now: d.Now}
		clock := clockChecker{report: &d.report, readClock: d.ReadClock}
		redis := redisChecker{report: &d.report, config: d.Config, clock: clock}
		nodes := nodeChecker{report: &d.report, config: d.Config, clock: clock, liveNodes: d.liveNodes, err: d.liveNodesErr, probeNode: d.ProbeNode, wrongKeyError: d.WrongKeyError, fileSystem: d.FileSystem}
		service := serviceChecker{report: &d.report, client: d.Client, running: d.Running}
		checks = append(checks, d.checkDataFolder, d.checkStoreFormat, d.checkFreeDisk, d.checkMasterKey, d.checkKeyFiles, network.checkPorts, network.checkMediaPorts, network.checkSocketBuffers, network.checkAddresses,
			certificates.check, d.checkEgress, d.checkEngines, redis.check)
		if d.ListNodes != nil {
			checks = append(checks, nodes.check)
		}
		checks = append(checks, d.checkBucket, service.check)
	}
	for _, check := range checks {
		bounded, cancel := context.WithTimeout(ctx, checkTimeout)
		check(bounded)
		cancel()
		if ctx.Err() != nil {
			break
		}
	}
	return d.report.findings
}

func (d *Diagnosis) reportInvalidSettings() {
	var wrong *configs.InvalidError
	if !errors.As(d.ConfigError, &wrong) {
		d.report.bad("settings", "use a readable settings file", "%v", d.ConfigError)
		return
	}
	for _, p := range wrong.Problems {
		d.report.bad("settings", "see docs/configuration.md", "%s", p)
	}
}

// readNodes lists the live nodes. It sets Running if one of them has this machine's node_addr, because a node
// without a shard has no local socket.
func (d *Diagnosis) readNodes(ctx context.Context) {
	d.liveNodes, d.liveNodesErr = nil, nil
	if d.ListNodes == nil || d.Config == nil {
		return
	}
	if d.liveNodes, d.liveNodesErr = d.ListNodes(ctx); d.liveNodesErr != nil {
		return
	}
	own := d.Config.Node.Addr
	if own.IsValid() && slices.ContainsFunc(d.liveNodes, func(n Node) bool { return n.Addr == own.String() }) {
		d.Running = true
	}
}
