package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
)

// NewPathway is a pathway as it is sent.
type NewPathway struct {
	Name      string            `json:"name,omitempty" required:"true"`
	Start     string            `json:"start,omitempty" required:"true" doc:"The id of the first node."`
	Variables []domain.Variable `json:"variables,omitempty" nullable:"false"`
	Nodes     []domain.Node     `json:"nodes,omitempty" required:"true" nullable:"false"`
	Edges     []domain.Edge     `json:"edges,omitempty" nullable:"false"`
	Metadata  map[string]string `json:"metadata,omitempty"`
}

// PathwayUpdate is what can be changed of a pathway.
type PathwayUpdate struct {
	NewPathway
	Version int `json:"version,omitempty" minimum:"1" doc:"The version that the change was made to: 409 invalid_state with current_version, and no change, where another one has been saved since. Unless said, whichever there is is changed."`
}

func (n *PathwayUpdate) apply(w *domain.Pathway) error {
	if n.Version != 0 && n.Version != w.Version {
		e := domain.Errorf(domain.CodeInvalidState, "Version %d is saved by now; the change was made to version %d.", w.Version, n.Version)
		e.Param = "version"
		return e.With("current_version", w.Version)
	}
	return n.NewPathway.apply(w)
}

func (n *NewPathway) copyTo(w *domain.Pathway) {
	w.Name, w.Start, w.Variables, w.Nodes, w.Edges, w.Metadata = n.Name, n.Start, n.Variables, n.Nodes, n.Edges, n.Metadata
}

// apply writes the settings to a pathway, and checks the pathway.
func (n *NewPathway) apply(w *domain.Pathway) error {
	n.copyTo(w)
	return checkPathway(w)
}

// checkPathway finds everything that is wrong with a pathway at once.
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

// PathwayReport is what a validation found.
type PathwayReport struct {
	Valid    bool            `json:"valid"`
	Runnable bool            `json:"runnable" doc:"Calls can walk it here."`
	Needs    []domain.Detail `json:"needs" doc:"What takes an engine that is not configured: it can be saved, but calls that would walk it are 409 engine_not_configured."`
	Errors   []domain.Detail `json:"errors" doc:"What keeps the pathway from being saved."`
	Warnings []domain.Detail `json:"warnings" doc:"What is odd but stops nothing."`
}

func (s *Server) reportOn(ctx context.Context, p domain.Principal, w *domain.Pathway) (PathwayReport, error) {
	var r PathwayReport
	if pathway.Fits(w) {
		r.Warnings, r.Needs = pathway.Warnings(w), pathway.Needs(w, pathway.Engines{Acts: true, Ears: s.cfg.Ears, Text: s.cfg.Text, Model: s.ports.Pathways.Thinks(ctx, p, nil)})
	}
	err := checkPathway(w)
	if err == nil {
		err = s.ports.Pathways.CheckPathway(ctx, p, w)
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

func (s *Server) pathwayRoutes() {
	const tag, path = "Pathways", "/v1/pathways"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createPathway", Tag: tag, Status: http.StatusCreated, Summary: "Create a pathway",
		Description: "Nodes say, collect, converse, dtmf, condition, tool, appointment, sms, transfer, agent and end; edges lead from node to node. Text takes {{name}} and {{name | fallback}}. " +
			"Tools, knowledge bases and agents that nodes name must belong to the workspace. Edges are taken by key presses, words (needs speech recognition), decisions of a language model (needs one), time-outs, always, else, success and failure. " +
			"A node or edge that needs an engine that is not configured is stored, reported by validate, and refused when a call reaches it (409 engine_not_configured).",
	}, func(ctx context.Context, p domain.Principal, in *struct{ Body NewPathway }) (*router.Response[*domain.Pathway], error) {
		w := &domain.Pathway{}
		if err := in.Body.apply(w); err != nil {
			return nil, err
		}
		made, err := s.ports.Pathways.CreatePathway(ctx, p, w)
		return router.RespondCreated(ctx, made, err)
	})
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path + "/validate", ID: "validatePathway", Tag: tag, SkipValidation: true, Summary: "Check a pathway without saving it", Description: "The report lists all problems, those of missing members as well."},
		func(ctx context.Context, p domain.Principal, in *struct{ Body NewPathway }) (*router.Response[PathwayReport], error) {
			w := &domain.Pathway{}
			in.Body.copyTo(w)
			return router.Respond(s.reportOn(ctx, p, w))
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listPathways", Tag: tag, Summary: "List pathways"},
		router.HandleList(s.ports.Pathways, Pathways.ListPathways, router.Same))
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
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updatePathway", Tag: tag, Summary: "Change a pathway", Description: "Calls and campaigns that are running keep the pathway they began with."},
		router.HandlePatchByID(s.Registry, domain.PrefixPathway, s.ports.Pathways, Pathways.UpdatePathway, (*PathwayUpdate).apply))
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deletePathway", Tag: tag, Summary: "Delete a pathway", Errors: []int{http.StatusConflict}},
		router.HandleDeleteByID(domain.PrefixPathway, "pathway", s.ports.Pathways, Pathways.DeletePathway))
	s.playRoutes(tag, path)
	s.testPathwayRoutes(tag, path)
}

// CheckRules checks what the schema cannot express.
func (n *NewPathway) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.Pathway{})
}
