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

// Voice selects and tunes the synthetic voice of an agent.
type Voice struct {
	Engine string  `json:"engine,omitempty"` // name of a TTS engine of the installation, espeak-ng or wav
	Name   string  `json:"name,omitempty"`   // voice name of the engine, for example en-us
	Rate   float64 `json:"rate,omitempty"`   // speaking rate from 0.5 to 2; 1 is normal

	Pronunciations []Pronunciation `json:"pronunciations,omitempty"`
}

// AgentLanguage is a language that an agent can switch to, with its voice for that language.
type AgentLanguage struct {
	Language string `json:"language"`
	Voice    Voice  `json:"voice"`
}

// Pronunciation replaces a word before the text is spoken.
type Pronunciation struct {
	Word string `json:"word"` // one or more words as they stand in texts; matched in any case
	Say  string `json:"say"`  // spoken instead of Word
}

// Default and upper limit of AgentLimits.MaxTurns.
const (
	DefaultMaxTurns = 200
	MaxTurns        = 2000
)

// AgentLimits limits the length of a conversation and of the caller's silence.
type AgentLimits struct {
	SilenceSeconds int `json:"silence_seconds,omitempty"`
	MaxMinutes     int `json:"max_minutes,omitempty"`
	MaxTurns       int `json:"max_turns,omitempty"` // answers of a language model or realtime engine in one call. Default: DefaultMaxTurns.
}

// MaxDuration returns the maximum length of a conversation: asked if it is positive, or else the limit of the agent, or
// else otherwise.
func (l AgentLimits) MaxDuration(asked, otherwise time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	return cmp.Or(time.Duration(l.MaxMinutes)*time.Minute, otherwise)
}

// AgentInbound defines how an agent answers an inbound call.
type AgentInbound struct {
	Answer      string `json:"answer,omitempty"`       // ring (180, then 200), direct (200 at once) or early (183 with a ringing tone)
	RingSeconds int    `json:"ring_seconds,omitempty"` // ring, early: seconds before the answer
}

// Agent makes and answers calls along a pathway. Changes of Name, Extension and Metadata take effect at once. All
// other fields are a draft until the agent is published.
type Agent struct {
	Meta
	Name             string          `json:"name"`
	PathwayID        string          `json:"pathway_id,omitempty"`
	SystemPrompt     string          `json:"system_prompt,omitempty"`
	FirstMessage     string          `json:"first_message,omitempty"`
	Language         string          `json:"language"`
	Timezone         string          `json:"timezone"`
	Voice            Voice           `json:"voice"`
	Languages        []AgentLanguage `json:"languages,omitempty"` // languages that the agent can switch to
	LLM              *AgentLLM       `json:"llm,omitempty"`
	STT              *AgentSTT       `json:"stt,omitempty"`
	Realtime         *AgentRealtime  `json:"realtime,omitempty"`
	TurnTaking       *TurnTaking     `json:"turn_taking,omitempty"`
	AMD              *AgentAMD       `json:"amd,omitempty"`
	Limits           AgentLimits     `json:"limits"`
	Transfer         AgentTransfer   `json:"transfer"`
	Inbound          AgentInbound    `json:"inbound"`
	KnowledgeBaseIDs []string        `json:"knowledge_base_ids"`
	Tools            []string        `json:"tools"` // tool IDs
	OnInbound        *AgentHook      `json:"on_inbound,omitempty"`
	Analysis         *AgentAnalysis  `json:"analysis,omitempty"`
	SMS              *AgentSMS       `json:"sms,omitempty"`
	Extension        string          `json:"extension,omitempty"`           // dialed by phones of the workspace to reach the agent
	Version          int             `json:"version"`                       // newest published version, used by calls
	PublishedAt      *time.Time      `json:"published_at"`                  // time at which Version was published
	Unpublished      []string        `json:"unpublished_changes"`           // fields in which the draft differs from Version
	References       []string        `json:"names,omitempty" hidden:"true"` // IDs of resources that the draft or Version refers to
}

// ReferencedIDs returns the IDs of the pathway, tools and knowledge bases that the agent refers to.
func (a *Agent) ReferencedIDs() []string {
	var ids []string
	if a.PathwayID != "" {
		ids = append(ids, a.PathwayID)
	}
	return slices.Concat(ids, toolIDs(a.Tools), a.KnowledgeBaseIDs)
}

// Public returns the agent as the API shows it.
func (a *Agent) Public() *Agent {
	c := *a
	c.References = nil
	return &c
}

// AgentVersion is a published version of an agent. It never changes.
type AgentVersion struct{ Agent }

// Key returns the key of the agent version in the store. It contains the agent ID and the version number.
func (v *AgentVersion) Key() Key {
	return Key{"agent_version", v.WorkspaceID, fmt.Sprintf("%s/%06d", v.ID, v.Version)}
}

// Indexes returns the index of all versions of the agent.
func (v *AgentVersion) Indexes() []string { return []string{"of=" + v.ID} }

// Sort returns a sort key that orders versions by creation time. It has the form of a ULID.
func (v *AgentVersion) Sort() string {
	var number [10]byte
	binary.BigEndian.PutUint64(number[2:], uint64(v.Version)) //nolint:gosec // counts from 1
	return ID(PrefixAgent, v.CreatedAt, number)
}

// Public returns the version as the API shows it.
func (v *AgentVersion) Public() *AgentVersion { return &AgentVersion{*v.Agent.Public()} }

// Key returns the key of the agent in the store.
func (a *Agent) Key() Key { return Key{"agent", a.WorkspaceID, a.ID} }

// Indexes returns the index by environment, and one index for each resource that the agent uses.
func (a *Agent) Indexes() []string { return referenceIndexes(envIndex(a.Environment), a.References) }

// referenceIndexes returns the index env and one index for each ID of a used resource. With these indexes, the store can
// list the objects that use a resource.
func referenceIndexes(env string, ids []string) []string {
	ix := []string{env}
	for _, id := range ids {
		ix = append(ix, "names="+id)
	}
	return ix
}

// Sort returns the ID, which sorts by creation time.
func (a *Agent) Sort() string { return a.ID }

// NodeType is the type of a pathway node.
type NodeType string

// Types of a pathway node.
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
	NodeOffer       NodeType = "offer"
)

// Values returns the types of a pathway node.
func (NodeType) Values() []string {
	return values(
		NodeSay, NodeCollect, NodeDTMF, NodeEnd, NodeTransfer, NodeConverse, NodeCondition, NodeTool,
		NodeAppointment, NodeSMS, NodeAgent, NodeOffer,
	)
}

// EdgeType is the kind of condition under which a conversation follows a pathway edge.
type EdgeType string

// Types of a pathway edge.
const (
	EdgeAlways  EdgeType = "always"
	EdgeElse    EdgeType = "else"
	EdgeDTMF    EdgeType = "dtmf"
	EdgeTimeout EdgeType = "timeout"
	EdgeSuccess EdgeType = "success" // a transfer, tool or appointment succeeded
	EdgeFailure EdgeType = "failure"
	EdgeIntent  EdgeType = "intent" // the caller's words express the intent
	EdgeExpr    EdgeType = "expr"   // an expression over the variables is true
	EdgeLLM     EdgeType = "llm"    // a language model decides that the prompt of the edge applies
)

// Values returns the types of a pathway edge.
func (EdgeType) Values() []string {
	return values(EdgeAlways, EdgeElse, EdgeDTMF, EdgeTimeout, EdgeSuccess, EdgeFailure, EdgeIntent, EdgeExpr, EdgeLLM)
}

// Assign lists the values of the call that a pathway node sets when the conversation enters the node.
type Assign struct {
	Outcome   Outcome           `json:"outcome,omitempty"`
	Notes     string            `json:"notes,omitempty"`
	Intent    string            `json:"intent,omitempty"`
	Language  string            `json:"language,omitempty"` // language of speech and recognition from this node on
	Variables map[string]string `json:"variables,omitempty"`
	AddToDNC  bool              `json:"add_to_dnc,omitempty"` // the remote party asked not to be called again
}

// Node is one step of a pathway.
type Node struct {
	ID             string       `json:"id"`
	Type           NodeType     `json:"type"`
	Prompt         string       `json:"prompt,omitempty"`
	Interruptible  *bool        `json:"interruptible,omitempty"` // a key press may interrupt the prompt. Default: true.
	TurnTaking     *TurnTaking  `json:"turn_taking,omitempty"`   // without Interruptible. Default: the settings of the agent.
	Input          string       `json:"input,omitempty"`         // collect, offer: dtmf, speech or both. Default of an offer: both, where speech is recognized.
	SaveAs         string       `json:"save_as,omitempty"`
	Values         []string     `json:"values,omitempty"` // collect: accepted inputs; any other input counts as no input
	Length         int          `json:"length,omitempty"` // collect: number of digits. Default: 1.
	TimeoutSeconds float64      `json:"timeout_seconds,omitempty"`
	Retries        int          `json:"retries,omitempty"`
	RetryPrompt    string       `json:"retry_prompt,omitempty"` // collect, offer: prompt of the second and later tries
	List           string       `json:"list,omitempty"`         // offer: variable that holds the list, or a field of a result
	Sensitive      bool         `json:"sensitive,omitempty"`
	Digits         string       `json:"digits,omitempty"`      // dtmf: digits to send
	Outcome        Outcome      `json:"outcome,omitempty"`     // end
	Notes          string       `json:"notes,omitempty"`       // end
	Destination    string       `json:"destination,omitempty"` // transfer: name of one of the agent's destinations, or a number
	Mode           TransferMode `json:"mode,omitempty"`        // transfer: blind, attended or bridge. Default: bridge.
	Summary        string       `json:"summary,omitempty"`     // transfer: spoken to the person who answers

	Tools            []string          `json:"tools,omitempty"`              // converse: tool IDs, or appointment, sms, transfer, dnc and end
	MaxTurns         int               `json:"max_turns,omitempty"`          // converse: maximum number of model answers at this node. Default: the limit of the agent.
	KnowledgeBaseIDs []string          `json:"knowledge_base_ids,omitempty"` // converse
	Extract          []AnalysisField   `json:"extract,omitempty"`            // converse: values that the model has to find out
	ToolID           string            `json:"tool_id,omitempty"`            // tool
	Action           string            `json:"action,omitempty"`             // appointment: availability, book, confirm, cancel or reschedule
	Arguments        map[string]string `json:"arguments,omitempty"`          // tool, appointment
	Body             string            `json:"body,omitempty"`               // sms
	AgentID          string            `json:"agent_id,omitempty"`           // agent: ID of the agent that takes over
	Set              *Assign           `json:"set,omitempty"`
}

// When is the condition under which a conversation follows a pathway edge.
type When struct {
	Type   EdgeType `json:"type"`
	Digits string   `json:"digits,omitempty"` // dtmf: input for which the edge is taken
	Intent string   `json:"intent,omitempty"` // intent: name of the intent
	Words  []string `json:"words,omitempty"`  // intent: phrases of the caller that express the intent. Default: built-in phrases for yes, no, person and repeat.
	Expr   string   `json:"expr,omitempty"`   // expr: for example age >= 18 && city == "Berlin"
	Prompt string   `json:"prompt,omitempty"` // llm: condition in natural language
}

// Edge leads from one pathway node to another. From "*" means any node.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	When When   `json:"when"`
}

// Variable is a variable that the texts of a pathway may use.
type Variable struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitempty"`
	Default  string `json:"default,omitempty"`
}

// Pathway is a graph of nodes and edges that a conversation follows.
type Pathway struct {
	Meta
	Name      string     `json:"name"`
	Start     string     `json:"start"`
	Variables []Variable `json:"variables"`
	Nodes     []Node     `json:"nodes"`
	Edges     []Edge     `json:"edges"`
	Version   int        `json:"version"`
}

// Key returns the key of the pathway in the store.
func (p *Pathway) Key() Key { return Key{"pathway", p.WorkspaceID, p.ID} }

// Indexes returns the index by environment, and one index for each resource that the pathway uses.
func (p *Pathway) Indexes() []string {
	return referenceIndexes(envIndex(p.Environment), p.ReferencedIDs())
}

// ReferencedIDs returns the IDs of the tools, knowledge bases and agents that the nodes of the pathway use. They are
// sorted and without duplicates.
func (p *Pathway) ReferencedIDs() []string {
	var ids []string
	for i := range p.Nodes {
		n := &p.Nodes[i]
		ids = slices.Concat(ids, toolIDs(n.Tools), n.KnowledgeBaseIDs, []string{n.ToolID, n.AgentID})
	}
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" })
}

// Sort returns the ID, which sorts by creation time.
func (p *Pathway) Sort() string { return p.ID }

// Script is everything that a conversation uses: one version of an agent with its pathway. It is fixed when the
// call or its campaign starts.
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

// RecognitionLanguage returns the language that the speech recognizer expects.
func (s *Script) RecognitionLanguage() string {
	if s.STT != nil && s.STT.Language != "" {
		return s.STT.Language
	}
	return s.Language
}

// InLanguage returns the script in another language. The voice is the agent's voice for that language, or else the
// default voice of the engine. Speech recognition uses the same language.
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

// PinnedScript stores the script that a campaign uses from its start to its end, even if the agent changes.
type PinnedScript struct {
	CampaignID  string `json:"campaign_id"`
	WorkspaceID string `json:"workspace_id"`
	Script      Script `json:"script"`
}

// Key returns the key of the pinned script in the store.
func (p *PinnedScript) Key() Key { return Key{"script", p.WorkspaceID, p.CampaignID} }

// Indexes returns nil: the pinned script is read by key only.
func (p *PinnedScript) Indexes() []string { return nil }

// Sort returns a sort key that is unused, because the pinned script has no index.
func (p *PinnedScript) Sort() string { return p.CampaignID }

// Context is the free-form data of a contact or call: any JSON object. Its numbers are json.Number, which keeps their
// digits.
type Context map[string]any

// UnmarshalJSON decodes a JSON object without rounding its numbers.
func (c *Context) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode((*map[string]any)(c))
}

// Text returns a value of the context for use in a prompt. Strings are returned unchanged, other values as JSON. ok
// is false if the value is missing or null.
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
