package agentruntime

import (
	"context"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
)

// Runtime responds and calls tools for the agent of one call or chat. It implements conversation.AgentRuntime.
type Runtime struct {
	cfg  *Config
	p    domain.Principal
	call domain.Call // empty in a chat
	from string      // sender of the agent's messages; "": chosen by the route
}

// watchedRuntime is the runtime of a call whose live transcript somebody follows. It passes transcript segments on.
type watchedRuntime struct {
	*Runtime

	wrote func(domain.Segment)
}

var (
	_ conversation.RealtimeRuntime   = (*Runtime)(nil)
	_ conversation.TranscriptWatcher = (*watchedRuntime)(nil)
)

// SegmentChanged sends a changed transcript segment to the watcher. It implements conversation.TranscriptWatcher.
func (w *watchedRuntime) SegmentChanged(s domain.Segment) { w.wrote(s) }

// AgentScript returns the script of another agent of the workspace, to which a call is handed over.
func (a *Runtime) AgentScript(ctx context.Context, id string) (domain.Script, error) {
	return a.cfg.Script(ctx, a.p, id, "")
}
