package calls

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// Recordings are what is done with recordings besides reading them.
type Recordings interface {
	// Recording fails with processing while the recording is not ready (202), with
	// not_found where the call has none.
	Recording(ctx context.Context, p domain.Principal, callID string) (record.Download, error)
	// LinkRecording makes a token that opens the recording until the time given
	// or until it is deleted. Errors: processing, not_found.
	CreateRecordingLink(ctx context.Context, p domain.Principal, callID string, until time.Time) (token string, err error)
	// VisitByLink answers who may read the call's recording with a token.
	// Errors: invalid_link, expired_link, not_found.
	AuthenticateRecordingLink(ctx context.Context, callID, token string) (domain.Principal, error)
	// PauseRecording leaves a gap in the recording of a live call, or ends it;
	// repeated, it does nothing. Errors: invalid_state.
	SetRecordingPaused(ctx context.Context, p domain.Principal, callID string, paused bool) error
}

const (
	linkParam   = "token"
	defaultLink = 3600
	minLink     = 60
)

// LinkRequest asks for a link to a recording.
type LinkRequest struct {
	ExpiresIn int `json:"expires_in,omitempty" minimum:"60" maximum:"86400" default:"3600" doc:"Seconds for which the link opens."`
}

// Link opens a recording without a credential.
type Link struct {
	CallID    string    `json:"call_id"`
	URL       string    `json:"url" doc:"Whoever has it may fetch the recording: hand it on with care."`
	ExpiresAt time.Time `json:"expires_at"`
}

// RecordingState says whether a live call's recording has a gap now.
type RecordingState struct {
	CallID string `json:"call_id"`
	Status string `json:"status" enum:"recording,paused"`
}

func (s *recordingHandlers) registerLinks() {
	const tag, path = "Calls", "/v1/calls/{id}/recording"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/link", ID: "linkRecording", Tag: tag, Status: http.StatusCreated, Summary: "Make a link to the recording",
		Description: "The link needs no credential and takes Range. It ends with its time, and with the recording. A token makes links that end with the token at the latest.",
	}, s.linkRecording)
	for verb, paused := range map[string]bool{"pause": true, "resume": false} {
		router.Add(s.Router, router.Operation{
			Method: http.MethodPost, Path: path + "/" + verb, ID: verb + "Recording", Tag: tag, Summary: map[bool]string{true: "Pause the recording", false: "Go on recording"}[paused],
			Description: "As for card numbers: the gap is silence of the same length, and the call goes on. 409 unless somebody is talking and the call is recorded.",
		}, func(ctx context.Context, p domain.Principal, in *router.IDParam) (*router.Response[RecordingState], error) {
			return s.pauseRecording(ctx, p, in.ID, paused)
		})
	}
}

func (s *recordingHandlers) pauseRecording(ctx context.Context, p domain.Principal, callID string, paused bool) (*router.Response[RecordingState], error) {
	id, err := router.PathID(domain.PrefixCall, callID)
	if err != nil {
		return nil, err
	}
	if err := s.recordings.SetRecordingPaused(ctx, p, id, paused); err != nil {
		return nil, err
	}
	state := RecordingState{CallID: id, Status: "recording"}
	if paused {
		state.Status = "paused"
	}
	return router.Respond(state, nil)
}

func (s *recordingHandlers) linkRecording(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body LinkRequest
},
) (*router.Response[Link], error) {
	id, err := router.PathID(domain.PrefixCall, in.ID)
	if err != nil {
		return nil, err
	}
	life := router.Seconds(in.Body.ExpiresIn, defaultLink)
	if life < minLink*time.Second || life > access.MaxLinkLifetime {
		var ps domain.Problems
		ps.Add("expires_in", domain.CodeValidation, "must be %d to %d seconds", minLink, int(access.MaxLinkLifetime/time.Second))
		return nil, ps.Err()
	}
	until := time.Now().Add(life).UTC().Truncate(time.Second)
	if claims := router.RequestOf(ctx).Claims; claims != nil && claims.ExpiresAt != nil && until.After(claims.ExpiresAt.Time) {
		until = claims.ExpiresAt.UTC()
	}
	token, err := s.recordings.CreateRecordingLink(ctx, p, id, until)
	if domain.CodeOf(err) == domain.CodeProcessing {
		err = domain.Errorf(domain.CodeInvalidState, "The recording is still to come; try again in %s seconds.", router.RetryAfterProcessing)
	}
	if err != nil {
		return nil, err
	}
	at := s.PublicURL + "/v1/calls/" + id + "/recording?" + url.Values{linkParam: {token}}.Encode()
	return router.Respond(Link{CallID: id, URL: at, ExpiresAt: until}, nil)
}

// admitLinked lets in who comes by a link, and anybody else by a credential.
func (s *recordingHandlers) admitLinked(c *fiber.Ctx, r router.Rule, route string) error {
	token := c.Query(linkParam)
	if token == "" || c.Get(fiber.HeaderAuthorization) != "" {
		return s.Admit(c, r, route)
	}
	ctx := c.UserContext()
	v := router.RequestOf(ctx)
	id, err := router.PathID(domain.PrefixCall, c.Params("id"))
	if err == nil {
		v.Principal, err = s.recordings.AuthenticateRecordingLink(ctx, id, token)
	}
	switch code := domain.CodeOf(err); {
	case err == nil:
		router.ExchangeOf(c.Context()).Authenticated = true
		return s.CountRequest(c, v.Principal)
	case code == "" || code == domain.CodeUnavailable:
		return err
	}
	if limited := s.CountFailure(c, v); limited != nil {
		return limited
	}
	return err
}
