package domain

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Voice chooses how an agent sounds.
type Voice struct {
	Engine string  `json:"engine,omitempty"` // of the installation, espeak-ng or wav
	Name   string  `json:"name,omitempty"`   // the engine's voice, e.g. en-us
	Rate   float64 `json:"rate,omitempty"`   // 1 is normal, 0.5 to 2

	Pronunciations []Pronunciation `json:"pronunciations,omitempty"`
}

// AgentLanguage is a language that an agent can go over to, and its voice in it.
type AgentLanguage struct {
	Language string `json:"language"`
	Voice    Voice  `json:"voice"`
}

// Pronunciation is how a word is said.
type Pronunciation struct {
	Word string `json:"word"` // or words, as texts write it, in any case
	Say  string `json:"say"`  // what is said in its place
}

// AgentLimits bound a conversation.
type AgentLimits struct {
	SilenceSeconds int `json:"silence_seconds,omitempty"`
	MaxMinutes     int `json:"max_minutes,omitempty"`
}

// MaxDuration is how long a conversation may be: as its order asks, else as the agent
// says, else otherwise.
func (l AgentLimits) MaxDuration(asked, otherwise time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	return cmp.Or(time.Duration(l.MaxMinutes)*time.Minute, otherwise)
}

// AgentInbound is how an agent takes a call that comes in.
type AgentInbound struct {
	Answer      string `json:"answer,omitempty"`       // ring (180, then 200), direct (200 at once) or early (183 with a ringing of ours)
	RingSeconds int    `json:"ring_seconds,omitempty"` // ring, early: how long before the answer
}

// Agent places and takes calls along a pathway. Name, Extension and Metadata
// hold at once; the rest is a draft until it is published.
type Agent struct {
	Meta
	Name             string          `json:"name"`
	PathwayID        string          `json:"pathway_id,omitempty"`
	SystemPrompt     string          `json:"system_prompt,omitempty"`
	FirstMessage     string          `json:"first_message,omitempty"`
	Language         string          `json:"language"`
	Timezone         string          `json:"timezone"`
	Voice            Voice           `json:"voice"`
	Languages        []AgentLanguage `json:"languages,omitempty"` // that it can go over to
	LLM              *AgentLLM       `json:"llm,omitempty"`
	STT              *AgentSTT       `json:"stt,omitempty"`
	Realtime         *AgentRealtime  `json:"realtime,omitempty"`
	TurnTaking       *TurnTaking     `json:"turn_taking,omitempty"`
	AMD              *AgentAMD       `json:"amd,omitempty"`
	Limits           AgentLimits     `json:"limits"`
	Transfer         AgentTransfer   `json:"transfer"`
	Inbound          AgentInbound    `json:"inbound"`
	KnowledgeBaseIDs []string        `json:"knowledge_base_ids"`
	Tools            []string        `json:"tools"` // ids
	OnInbound        *AgentHook      `json:"on_inbound,omitempty"`
	Analysis         *AgentAnalysis  `json:"analysis,omitempty"`
	SMS              *AgentSMS       `json:"sms,omitempty"`
	Extension        string          `json:"extension,omitempty"`           // that phones of the workspace dial to reach the agent
	Version          int             `json:"version"`                       // the newest published one, which calls speak
	PublishedAt      *time.Time      `json:"published_at"`                  // when that was published
	Unpublished      []string        `json:"unpublished_changes"`           // the fields of the draft that differ from it
	References       []string        `json:"names,omitempty" hidden:"true"` // what draft and version name, by id
}

// ReferencedIDs are what the agent as it stands names: its pathway, tools and knowledge
// bases.
func (a *Agent) ReferencedIDs() []string {
	var ids []string
	if a.PathwayID != "" {
		ids = append(ids, a.PathwayID)
	}
	return slices.Concat(ids, toolIDs(a.Tools), a.KnowledgeBaseIDs)
}

// Public is the agent as the API shows it.
func (a *Agent) Public() *Agent {
	c := *a
	c.References = nil
	return &c
}

// AgentVersion is an agent as it was published. It never changes.
type AgentVersion struct{ Agent }

// Key names the row: below its agent.
func (v *AgentVersion) Key() Key {
	return Key{"agent_version", v.WorkspaceID, fmt.Sprintf("%s/%06d", v.ID, v.Version)}
}

// Indexes: by agent.
func (v *AgentVersion) Indexes() []string { return []string{"of=" + v.ID} }

// Sort is by age, in the shape of an id.
func (v *AgentVersion) Sort() string {
	var number [10]byte
	binary.BigEndian.PutUint64(number[2:], uint64(v.Version)) //nolint:gosec // counts from 1
	return ID(PrefixAgent, v.CreatedAt, number)
}

// Public is the version as the API shows it.
func (v *AgentVersion) Public() *AgentVersion { return &AgentVersion{*v.Agent.Public()} }

// Key names the row.
func (a *Agent) Key() Key { return Key{"agent", a.WorkspaceID, a.ID} }

// Indexes: by environment, and by what it names.
func (a *Agent) Indexes() []string { return referenceIndexes(envIndex(a.Environment), a.References) }

// referenceIndexes is a list of those that name something, by its id.
func referenceIndexes(env string, ids []string) []string {
	ix := []string{env}
	for _, id := range ids {
		ix = append(ix, "names="+id)
	}
	return ix
}

// Sort is by age.
func (a *Agent) Sort() string { return a.ID }

// NodeType is what a pathway's node does.
type NodeType string

// The node types.
const (
	NodeSay         NodeType = "say"
	NodeCollect     NodeType = "collect"
	NodeDTMF        NodeType = "dtmf"
	NodeEnd         NodeType = "end"
	NodeTransfer    NodeType = "transfer"
	NodeConverse    NodeType = "converse"
	NodeCondition   NodeType = "condition"
	NodeTool        NodeType = "tool"
	NodeAppointment NodeType = "appointment"
	NodeSMS         NodeType = "sms"
	NodeAgent       NodeType = "agent"
)

// Values are the types of a pathway node.
func (NodeType) Values() []string {
	return values(
		NodeSay, NodeCollect, NodeDTMF, NodeEnd, NodeTransfer, NodeConverse, NodeCondition, NodeTool,
		NodeAppointment, NodeSMS, NodeAgent,
	)
}

// EdgeType is when an edge is taken.
type EdgeType string

// The edge types.
const (
	EdgeAlways  EdgeType = "always"
	EdgeElse    EdgeType = "else"
	EdgeDTMF    EdgeType = "dtmf"
	EdgeTimeout EdgeType = "timeout"
	EdgeSuccess EdgeType = "success" // of a transfer, tool or appointment
	EdgeFailure EdgeType = "failure"
	EdgeIntent  EdgeType = "intent" // what was said means this
	EdgeExpr    EdgeType = "expr"   // an expression over the variables holds
	EdgeLLM     EdgeType = "llm"    // a model thinks that this holds
)

// Values are the types of a pathway edge.
func (EdgeType) Values() []string {
	return values(EdgeAlways, EdgeElse, EdgeDTMF, EdgeTimeout, EdgeSuccess, EdgeFailure, EdgeIntent, EdgeExpr, EdgeLLM)
}

// Assign is what a node sets when it is entered.
type Assign struct {
	Outcome   Outcome           `json:"outcome,omitempty"`
	Notes     string            `json:"notes,omitempty"`
	Intent    string            `json:"intent,omitempty"`
	Language  string            `json:"language,omitempty"` // spoken and heard from here on
	Variables map[string]string `json:"variables,omitempty"`
	AddToDNC  bool              `json:"add_to_dnc,omitempty"` // the far end wants no more calls
}

// Node is one step of a pathway.
type Node struct {
	ID             string       `json:"id"`
	Type           NodeType     `json:"type"`
	Prompt         string       `json:"prompt,omitempty"`
	Interruptible  *bool        `json:"interruptible,omitempty"` // a key press may cut the prompt; true unless said
	Input          string       `json:"input,omitempty"`         // collect: dtmf
	SaveAs         string       `json:"save_as,omitempty"`
	Values         []string     `json:"values,omitempty"` // collect: the inputs accepted; others count as none
	Length         int          `json:"length,omitempty"` // collect: digits to wait for (1)
	TimeoutSeconds float64      `json:"timeout_seconds,omitempty"`
	Retries        int          `json:"retries,omitempty"`
	RetryPrompt    string       `json:"retry_prompt,omitempty"` // collect: said in place of prompt from the second time on
	Sensitive      bool         `json:"sensitive,omitempty"`
	Digits         string       `json:"digits,omitempty"`      // dtmf: what to send
	Outcome        Outcome      `json:"outcome,omitempty"`     // end
	Notes          string       `json:"notes,omitempty"`       // end
	Destination    string       `json:"destination,omitempty"` // transfer: a name of the agent's destinations, or a number
	Mode           TransferMode `json:"mode,omitempty"`        // transfer: blind, attended or bridge (bridge unless said)
	Summary        string       `json:"summary,omitempty"`     // transfer: told to whoever answers

	Tools            []string          `json:"tools,omitempty"`              // converse: ids, and appointment, sms, transfer, dnc and end
	MaxTurns         int               `json:"max_turns,omitempty"`          // converse: answers of the model before it is left (40)
	KnowledgeBaseIDs []string          `json:"knowledge_base_ids,omitempty"` // converse
	Extract          []AnalysisField   `json:"extract,omitempty"`            // converse: what is to be found out
	ToolID           string            `json:"tool_id,omitempty"`            // tool
	Action           string            `json:"action,omitempty"`             // appointment: availability, book, confirm, cancel or reschedule
	Arguments        map[string]string `json:"arguments,omitempty"`          // tool, appointment
	Body             string            `json:"body,omitempty"`               // sms
	AgentID          string            `json:"agent_id,omitempty"`           // agent: who goes on
	Set              *Assign           `json:"set,omitempty"`
}

// When is the condition of an edge.
type When struct {
	Type   EdgeType `json:"type"`
	Digits string   `json:"digits,omitempty"` // dtmf: the input that takes the edge
	Intent string   `json:"intent,omitempty"` // intent: which one
	Words  []string `json:"words,omitempty"`  // intent: what is said for it; empty: the usual words of yes, no, person and repeat
	Expr   string   `json:"expr,omitempty"`   // expr: e.g. age >= 18 && city == "Berlin"
	Prompt string   `json:"prompt,omitempty"` // llm: what has to hold, in words
}

// Edge leads from a node ("*": from any) to another.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	When When   `json:"when"`
}

// Variable is a name that the text of a pathway may use.
type Variable struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitempty"`
	Default  string `json:"default,omitempty"`
}

// Pathway is the plan of a conversation.
type Pathway struct {
	Meta
	Name      string     `json:"name"`
	Start     string     `json:"start"`
	Variables []Variable `json:"variables"`
	Nodes     []Node     `json:"nodes"`
	Edges     []Edge     `json:"edges"`
	Version   int        `json:"version"`
}

// Key names the row.
func (p *Pathway) Key() Key { return Key{"pathway", p.WorkspaceID, p.ID} }

// Indexes: by environment, and by what it names.
func (p *Pathway) Indexes() []string {
	return referenceIndexes(envIndex(p.Environment), p.ReferencedIDs())
}

// ReferencedIDs are what the nodes name, each once: tools, knowledge bases and agents.
func (p *Pathway) ReferencedIDs() []string {
	var ids []string
	for i := range p.Nodes {
		n := &p.Nodes[i]
		ids = slices.Concat(ids, toolIDs(n.Tools), n.KnowledgeBaseIDs, []string{n.ToolID, n.AgentID})
	}
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" })
}

// Sort is by age.
func (p *Pathway) Sort() string { return p.ID }

// Script is what a call speaks: one version of an agent with its pathway,
// pinned when the call or its campaign starts.
type Script struct {
	AgentID   string          `json:"agent_id,omitempty"`
	AgentName string          `json:"agent_name,omitempty"`
	Version   int             `json:"agent_version,omitempty"`
	UnitID    string          `json:"unit_id"`
	Language  string          `json:"language"`
	Timezone  string          `json:"timezone"`
	Voice     Voice           `json:"voice"`
	Languages []AgentLanguage `json:"languages,omitempty"`
	STT       *AgentSTT       `json:"stt,omitempty"`
	Limits    AgentLimits     `json:"limits"`
	Turns     *TurnTaking     `json:"turn_taking,omitempty"`
	Transfer  AgentTransfer   `json:"transfer"`
	Inbound   AgentInbound    `json:"inbound"`
	AMD       *AgentAMD       `json:"amd,omitempty"`
	System    string          `json:"system_prompt,omitempty"`
	LLM       *AgentLLM       `json:"llm,omitempty"`
	Realtime  *AgentRealtime  `json:"realtime,omitempty"`
	Analysis  *AgentAnalysis  `json:"analysis,omitempty"`
	Hook      *AgentHook      `json:"on_inbound,omitempty"`
	SMS       *AgentSMS       `json:"sms,omitempty"`
	Pathway   Pathway         `json:"pathway"`
}

// RecognitionLanguage is the language that is heard.
func (s *Script) RecognitionLanguage() string {
	if s.STT != nil && s.STT.Language != "" {
		return s.STT.Language
	}
	return s.Language
}

// InLanguage is the script in a language: by the voice that the agent has for it, else by its engine's own, and heard in it too.
func (s Script) InLanguage(language string) Script {
	if strings.EqualFold(language, s.Language) {
		return s
	}
	s.Voice = Voice{Engine: s.Voice.Engine, Rate: s.Voice.Rate}
	for _, l := range s.Languages {
		if strings.EqualFold(l.Language, language) {
			s.Voice = l.Voice
		}
	}
	s.Language = language
	if s.STT != nil && s.STT.Language != "" {
		stt := *s.STT
		stt.Language = ""
		s.STT = &stt
	}
	return s
}

// PinnedScript is a script kept for a campaign from its start on.
type PinnedScript struct {
	CampaignID  string `json:"campaign_id"`
	WorkspaceID string `json:"workspace_id"`
	Script      Script `json:"script"`
}

// Key names the row.
func (p *PinnedScript) Key() Key { return Key{"script", p.WorkspaceID, p.CampaignID} }

// Indexes: none.
func (p *PinnedScript) Indexes() []string { return nil }

// Sort is unused.
func (p *PinnedScript) Sort() string { return p.CampaignID }

// Context is the free data of a contact or call: any JSON object.
// Numbers stay as they were written, as json.Number.
type Context map[string]any

// UnmarshalJSON reads an object from any decoder of JSON.
func (c *Context) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode((*map[string]any)(c))
}

// Text is a context value as a prompt speaks it: strings as they are, other
// values as JSON.
func (c Context) Text(name string) (string, bool) {
	v, ok := c[name]
	if !ok || v == nil {
		return "", false
	}
	if s, isText := v.(string); isText {
		return s, true
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "", false
	}
	return string(b), true
}
