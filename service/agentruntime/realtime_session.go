package agentruntime

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/engines/llm"
	"github.com/callboard/callboard/media/speech"
)

// OpenRealtime connects a call to a realtime engine, which listens to the caller and speaks by itself.
func (a *Runtime) OpenRealtime(ctx context.Context, s *domain.Script, brief string, d pathway.StartRealtime, told func(speech.RealtimeEvent)) (conversation.RealtimeConnection, error) {
	if s.Realtime == nil || a.cfg.Realtime == nil {
		return conversation.RealtimeConnection{}, errors.New("no realtime engine is configured")
	}
	r, names := a.request(ctx, &conversation.ModelRequest{Script: s, Brief: brief, Step: d.ModelRequest})
	o := speech.RealtimeRequest{
		Model: s.Realtime.Model, Voice: s.Realtime.Voice, Language: s.RecognitionLanguage(), Interruptible: d.Interruptible, SpeaksFirst: d.Speak,
	}
	if s.STT != nil {
		o.Keywords = s.STT.Keywords
	}
	if t := s.Turns; t != nil {
		o.EndOfTurn = time.Duration(t.EndOfTurnMs) * time.Millisecond
	}
	done := make(map[string]llm.Call)
	for _, x := range r.Messages {
		for _, c := range x.Calls {
			done[c.ID] = c
		}
		switch x.Role {
		case llm.System:
			o.Instructions = x.Text
		case llm.User:
			o.History = append(o.History, speech.RealtimeHistoryEntry{Caller: true, Text: x.Text})
		case llm.Assistant:
			if x.Text != "" {
				o.History = append(o.History, speech.RealtimeHistoryEntry{Text: x.Text})
			}
		case llm.ToolRole:
			c := done[x.ID]
			o.History = append(o.History, speech.RealtimeHistoryEntry{Text: x.Text, Call: &speech.RealtimeToolCall{ID: x.ID, Name: c.Name, Arguments: c.Arguments}})
		}
	}
	for _, t := range r.Tools {
		o.Tools = append(o.Tools, speech.RealtimeTool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	o.CallParameters = a.about(s, &d)
	talk, from, err := a.cfg.Realtime.Open(s.Realtime.Engine, o, told)
	return conversation.RealtimeConnection{RealtimeSession: talk, Engine: from.Name, AudioOnly: from.IsMediaStream, Tools: names}, err
}

// maxVariable is the maximum size in bytes of a variable that an external media stream receives.
const maxVariable = 1 << 10

// about returns the data of the call that an external media stream receives in addition to audio: ids, numbers,
// language and the variables of at most maxVariable bytes.
func (a *Runtime) about(s *domain.Script, d *pathway.StartRealtime) map[string]string {
	all := make(map[string]string, len(d.Known)+8)
	for name, value := range d.Known {
		if len(value) <= maxVariable {
			all[name] = value
		}
	}
	maps.Copy(all, map[string]string{
		"call_id": a.call.ID, "workspace_id": a.p.WorkspaceID, "agent_id": s.AgentID, "node": d.Node, "language": s.RecognitionLanguage(),
		"direction": string(a.call.Direction), "from": a.call.From, "to": a.call.To,
	})
	return all
}

// CanReplaceRealtime reports whether a language model can continue the conversation if the realtime engine fails.
func (a *Runtime) CanReplaceRealtime(s *domain.Script) bool {
	has := a.cfg.Engines(s)
	return has.Model && has.Text
}
