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

// Recordings opens recordings, creates links to them, and pauses the recording of live calls.
type Recordings interface {
	// Recording opens the recording of a call. Errors: processing (202) while the recording is being written, not_found
	// for a call without a recording.
	Recording(ctx context.Context, p domain.Principal, callID string) (record.Download, error)
	// CreateRecordingLink creates a token with which a client can open the recording without a credential. The token is
	// valid until the given time or until the recording is deleted. Errors: processing, not_found.
	CreateRecordingLink(ctx context.Context, p domain.Principal, callID string, until time.Time) (token string, err error)
	// AuthenticateRecordingLink checks a token of a recording link and returns its principal. Errors: invalid_link,
	// expired_link, not_found.
	AuthenticateRecordingLink(ctx context.Context, callID, token string) (domain.Principal, error)
	// SetRecordingPaused pauses or resumes the recording of a live call. The call has no effect if the recording already
	// has that state. Error: invalid_state.
	SetRecordingPaused(ctx context.Context, p domain.Principal, callID string, paused bool) error
}

const (
	linkParam   = "token"
	defaultLink = 3600
	minLink     = 60
)

// LinkRequest is the request body that creates a link to a recording.
type LinkRequest struct {
	ExpiresIn int `json:"expires_in,omitempty" minimum:"60" maximum:"86400" default:"3600" doc:"Lifetime of the link in seconds."`
}

// Link is the response with a URL that opens a recording without a credential.
type Link struct {
	CallID    string    `json:"call_id"`
	URL       string    `json:"url" doc:"The link gives access to the recording without a credential, so share it securely."`
	ExpiresAt time.Time `json:"expires_at"`
}

// RecordingState is the response that says whether the recording of a live call is paused.
type RecordingState struct {
	CallID string `json:"call_id"`
	Status string `json:"status" enum:"recording,paused"`
}

func (s *recordingHandlers) registerLinks() {
	const tag, path = "Calls", "/v1/calls/{id}/recording"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/link", ID: "linkRecording", Tag: tag, Status: http.StatusCreated, Summary: "Create a link to the recording",
		Description: "The link needs no credential and supports Range. It ends at its expiry, or when the recording is deleted. A link that is created with a token ends at the latest with the token.",
	}, s.linkRecording)
	for verb, paused := range map[string]bool{"pause": true, "resume": false} {
		router.Add(s.Router, router.Operation{
			Method: http.MethodPost, Path: path + "/" + verb, ID: verb + "Recording", Tag: tag, Summary: map[bool]string{true: "Pause the recording", false: "Go on recording"}[paused],
			Description: "For example while a card number is spoken. The gap is silence of the same length, and the call continues. 409 unless the call is answered and recorded.",
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
	expiresAt := time.Now().Add(life).UTC().Truncate(time.Second)
	if claims := router.RequestOf(ctx).Claims; claims != nil && claims.ExpiresAt != nil && expiresAt.After(claims.ExpiresAt.Time) {
		expiresAt = claims.ExpiresAt.UTC()
	}
	token, err := s.recordings.CreateRecordingLink(ctx, p, id, expiresAt)
	if domain.CodeOf(err) == domain.CodeProcessing {
		err = domain.Errorf(domain.CodeInvalidState, "The recording is not ready yet; try again in %s seconds.", router.RetryAfterProcessing)
	}
	if err != nil {
		return nil, err
	}
	at := s.PublicURL + "/v1/calls/" + id + "/recording?" + url.Values{linkParam: {token}}.Encode()
	return router.Respond(Link{CallID: id, URL: at, ExpiresAt: expiresAt}, nil)
}

// admitLinked admits a request by the token of a recording link, or by its credential if it has no token.
func (s *recordingHandlers) admitLinked(c *fiber.Ctx, r router.AccessRule, route string) error {
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
