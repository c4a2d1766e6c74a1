package agents

import (
	"context"
	"errors"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/limit"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// Pathways manages pathways, the conversation graphs that agents follow.
type Pathways interface {
	CreatePathway(ctx context.Context, p domain.Principal, w *domain.Pathway) (*domain.Pathway, error)
	Pathway(ctx context.Context, p domain.Principal, id string) (*domain.Pathway, error)
	// PathwayVersion returns a version of a pathway. Number 0 is the current version. A version that is not stored is a
	// validation error (422) with param version.
	PathwayVersion(ctx context.Context, p domain.Principal, id string, number int) (*domain.Pathway, error)
	ListPathways(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Pathway], error)
	UpdatePathway(ctx context.Context, p domain.Principal, id string, change func(*domain.Pathway) error) (*domain.Pathway, error)
	// DeletePathway deletes a pathway. Error: invalid_state with the field used_by while an agent references the pathway.
	DeletePathway(ctx context.Context, p domain.Principal, id string) error
	// CheckPathway returns a validation error (422) if a node references a resource that the workspace does not have.
	CheckPathway(ctx context.Context, p domain.Principal, w *domain.Pathway) error
}

// Models sends requests to the language models of agents.
type Models interface {
	// HasModel reports whether the language model that an agent's settings select is available. If l is nil, it checks the
	// default model.
	HasModel(ctx context.Context, p domain.Principal, l *domain.AgentLLM) bool
	// AskModel sends the request t to the language model and returns its answer. brief is the system prompt.
	AskModel(ctx context.Context, p domain.Principal, l *domain.AgentLLM, brief string, t pathway.ModelRequest) ([]string, pathway.ModelAnswered)
	// PlayCaller returns what the default language model says as the caller of a conversation. brief is the system prompt.
	// The error may be shown to the client.
	PlayCaller(ctx context.Context, p domain.Principal, brief string, said []pathway.Message) (string, error)
}

// PastCalls returns the calls and transcripts with which a pathway is replayed.
type PastCalls interface {
	Call(ctx context.Context, p domain.Principal, id string) (*domain.Call, error)
	Transcript(ctx context.Context, p domain.Principal, callID string) (*domain.Transcript, error)
}

// CampaignReader returns the campaign to which a replayed call belongs.
type CampaignReader interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

// PathwaySpeech describes the speech recognition of this installation.
type PathwaySpeech struct {
	Recognized  bool // the installation recognizes the words that a pathway expects
	Transcribed bool // the installation transcribes all speech
}

// pathwayHandlers serves the operations on pathways, including chats, replays and tests.
type pathwayHandlers struct {
	*router.Router

	pathways  Pathways
	models    Models
	agents    Agents
	calls     PastCalls
	campaigns CampaignReader
	speech    PathwaySpeech
	tests     limit.Concurrent // running tests by workspace
}

// NewPathway is a pathway in a request body.
type NewPathway struct {
	Name      string            `json:"name,omitempty" required:"true"`
	Start     string            `json:"start,omitempty" required:"true" doc:"The id of the first node."`
	Variables []domain.Variable `json:"variables,omitempty" nullable:"false"`
	Nodes     []domain.Node     `json:"nodes,omitempty" required:"true" nullable:"false"`
	Edges     []domain.Edge     `json:"edges,omitempty" nullable:"false"`
	Metadata  map[string]string `json:"metadata,omitempty"`
}

// PathwayUpdate holds the members that a PATCH of a pathway can change.
type PathwayUpdate struct {
	NewPathway
	Version int `json:"version,omitempty" minimum:"1" doc:"The version that the change is based on. If a newer version exists, 409 invalid_state with current_version. Default: the current version."`
}

func (n *PathwayUpdate) apply(w *domain.Pathway) error {
	if n.Version != 0 && n.Version != w.Version {
		e := domain.Errorf(domain.CodeInvalidState, "The current version is %d; the change is based on version %d.", w.Version, n.Version)
		e.Param = "version"
		return e.With("current_version", w.Version)
	}
	return n.NewPathway.apply(w)
}

func (n *NewPathway) copyTo(w *domain.Pathway) {
	w.Name, w.Start, w.Variables, w.Nodes, w.Edges, w.Metadata = n.Name, n.Start, n.Variables, n.Nodes, n.Edges, n.Metadata
}

// apply copies the settings in the request body to a pathway and validates the pathway.
func (n *NewPathway) apply(w *domain.Pathway) error {
	n.copyTo(w)
	return checkPathway(w)
}

// checkPathway validates a pathway and returns an error that lists all problems.
func checkPathway(w *domain.Pathway) error {
	var p domain.Problems
	validation.Metadata(&p, w.Metadata)
	err := pathway.Validate(w)
	var known *domain.Error
	switch {
	case err == nil:
		return p.Err()
	case len(p) == 0 || !errors.As(err, &known):
		return err
	}
	return append(p, known.Details...).Err()
}

// PathwayReport is the response to the validation of a pathway.
type PathwayReport struct {
	Valid    bool            `json:"valid"`
	Runnable bool            `json:"runnable" doc:"This installation can run the pathway."`
	Needs    []domain.Detail `json:"needs" doc:"Parts that need a missing engine. The pathway can be saved, but its calls are 409 engine_not_configured."`
	Errors   []domain.Detail `json:"errors" doc:"Errors that prevent saving."`
	Warnings []domain.Detail `json:"warnings" doc:"Warnings that do not prevent saving."`
}

func (s *pathwayHandlers) reportOn(ctx context.Context, p domain.Principal, w *domain.Pathway) (PathwayReport, error) {
	var r PathwayReport
	if pathway.IsWithinLimits(w) {
		r.Warnings, r.Needs = pathway.Warnings(w), pathway.MissingCapabilities(w, pathway.Capabilities{Actions: true, Speech: s.speech.Recognized, Text: s.speech.Transcribed, Model: s.models.HasModel(ctx, p, nil)})
	}
	err := checkPathway(w)
	if err == nil {
		err = s.pathways.CheckPathway(ctx, p, w)
	}
	var known *domain.Error
	switch {
	case err == nil:
		r.Valid, r.Runnable = true, len(r.Needs) == 0
	case errors.As(err, &known) && known.Code == domain.CodeValidation:
		r.Errors = known.Details
	default:
		return r, err
	}
	return r, nil
}

// registerPathways registers the routes for pathways, including chats, replays and tests.
func registerPathways(r *router.Router, services Services, speech PathwaySpeech) {
	s := &pathwayHandlers{
		Router: r, pathways: services.Pathways, models: services.Models, agents: services.Agents, calls: services.Calls, campaigns: services.Campaigns, speech: speech,
	}
	const tag, path = "Pathways", "/v1/pathways"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createPathway", Tag: tag, Status: http.StatusCreated, Summary: "Create a pathway",
		Description: "Nodes say, collect, offer, converse, dtmf, condition, tool, appointment, sms, transfer, agent and end; edges connect nodes. Texts may contain {{name}} and {{name | fallback}}. " +
			"Tools, knowledge bases and agents of nodes must belong to the workspace. Edges match key presses, words (needs speech recognition), decisions of a language model (needs a model), timeouts, always, else, success and failure. " +
			"A node or edge that needs a missing engine can be stored. validate reports it, and its calls are 409 engine_not_configured.",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewPathway }) (*router.Response[*domain.Pathway], error) {
		w := &domain.Pathway{}
		if err := in.Body.apply(w); err != nil {
			return nil, err
		}
		created, err := s.pathways.CreatePathway(ctx, p, w)
		return router.RespondCreated(ctx, created, err)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/validate", ID: "validatePathway", Tag: tag, SkipValidation: true, Summary: "Check a pathway without saving it", Description: "The report lists all problems, including missing members."},
		func(ctx context.Context, p domain.Principal, in *struct{ Body NewPathway }) (*router.Response[PathwayReport], error) {
			w := &domain.Pathway{}
			in.Body.copyTo(w)
			return router.Respond(s.reportOn(ctx, p, w))
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listPathways", Tag: tag, Summary: "List pathways"},
		router.HandleList(s.pathways, Pathways.ListPathways, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getPathway", Tag: tag, Summary: "Get a pathway"},
		func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[*domain.Pathway], error) {
			return router.Respond(s.pathwayOf(ctx, p, *in))
		})
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/{id}/validate", ID: "validateSavedPathway", Tag: tag, Summary: "Check a saved pathway"},
		func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[PathwayReport], error) {
			w, err := s.pathwayOf(ctx, p, *in)
			if err != nil {
				return nil, err
			}
			return router.Respond(s.reportOn(ctx, p, w))
		})
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updatePathway", Tag: tag, Summary: "Change a pathway", Description: "Running calls and campaigns keep the version with which they started."},
		router.HandlePatchByID(s.Registry, domain.PrefixPathway, s.pathways, Pathways.UpdatePathway, (*PathwayUpdate).apply))
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deletePathway", Tag: tag, Summary: "Delete a pathway", Errors: []int{http.StatusConflict}},
		router.HandleDeleteByID(domain.PrefixPathway, "pathway", s.pathways, Pathways.DeletePathway))
	s.registerChat(tag, path)
	s.registerTests(tag, path)
}

// CheckRules returns the violations of the rules for a pathway that the JSON schema cannot express.
func (n *NewPathway) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.Pathway{})
}
