// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListPhonesQuery holds the query parameters of ListPhones. Zero values are not sent.
type ListPhonesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
	CreatedBefore time.Time
}

func (q *ListPhonesQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListPhones: List phones.
//
// GET /v1/phones
func (c *Client) ListPhones(ctx context.Context, q ListPhonesQuery, options ...Option) (*ListPhone, error) {
	return send[ListPhone](ctx, c, "GET", "/v1/phones", q.values(), nil, options)
}

// AllPhones iterates over all pages of ListPhones. It ends after the first error.
func (c *Client) AllPhones(ctx context.Context, q ListPhonesQuery, options ...Option) iter.Seq2[Phone, error] {
	return pages(&q.Cursor, func() ([]Phone, *string, error) {
		l, err := c.ListPhones(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreatePhone: Create a phone.
//
// POST /v1/phones
//
// Needs an API key or a dashboard session. The phone registers at the SIP address of the service with username and password. Only this response contains a created password. A phone of the test environment is stored but never used; its warnings say so.
func (c *Client) CreatePhone(ctx context.Context, body *NewPhone, options ...Option) (*Phone, error) {
	return send[Phone](ctx, c, "POST", "/v1/phones", nil, asJSON(body), options)
}

// DeletePhone: Delete a phone.
//
// DELETE /v1/phones/{id}
//
// Needs an API key or a dashboard session.
func (c *Client) DeletePhone(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/phones/"+url.PathEscape(id), nil, nil, options)
}

// GetPhone: Get a phone.
//
// GET /v1/phones/{id}
func (c *Client) GetPhone(ctx context.Context, id string, options ...Option) (*Phone, error) {
	return send[Phone](ctx, c, "GET", "/v1/phones/"+url.PathEscape(id), nil, nil, options)
}

// UpdatePhone: Change a phone.
//
// PATCH /v1/phones/{id}
//
// Needs an API key or a dashboard session. Running calls continue. null lets Callboard create a new password, which only this response contains.
func (c *Client) UpdatePhone(ctx context.Context, id string, body *PhoneUpdate, options ...Option) (*Phone, error) {
	return send[Phone](ctx, c, "PATCH", "/v1/phones/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListPhone is part of a response.
type ListPhone struct {
	// The resources of this page.
	Data []Phone `json:"data"`
	// true if there is another page.
	HasMore bool `json:"has_more"`
	// Cursor of the next page; null on the last page.
	NextCursor *string `json:"next_cursor"`
	// The type of the resource. One of list.
	Object string `json:"object"`
}

// NewPhone is part of a request.
type NewPhone struct {
	// Codecs in order of preference. Default: PCMU, PCMA.
	Codecs []string `json:"codecs,omitzero"`
	// DTMF method. auto: telephone events (RFC 4733) if both ends support them, otherwise inband tones. One of auto, rfc4733, info, inband.
	Dtmf *string `json:"dtmf,omitempty"`
	// 2 to 6 digits, unique among the phones and agents of the workspace.
	Extension string `json:"extension"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// Destination of audio. off: the address in the SDP. on: the source address of the phone's RTP. auto: the address in the SDP, or the RTP source if that address is not allowed. Default: auto. One of auto, on, off.
	Nat *string `json:"nat,omitempty"`
	// At least 12 characters. Default: Callboard creates one and shows it once. A change ends the registrations of the phone.
	Password *string `json:"password,omitempty"`
	// SRTP with keys in SDP. For a phone that is not registered over TLS, optional counts as off, and calls with required fail. Default: off. One of off, optional, required.
	Srtp *string `json:"srtp,omitempty"`
	// true: SRTP keys are also sent without TLS. Anyone who sees the signaling can then decrypt the audio.
	SrtpKeysInClear *bool `json:"srtp_keys_in_clear,omitempty"`
	// Allowed SIP transport of the phone. Default: any. One of any, udp, tcp, tls.
	Transport *string `json:"transport,omitempty"`
	// User name for registration, unique in the installation. Default: the extension.
	Username *string `json:"username,omitempty"`
}

// Phone is part of a response.
type Phone struct {
	// Codecs in order of preference.
	Codecs []string `json:"codecs"`
	// Current registrations of the phone.
	Contacts []PhoneContact `json:"contacts,omitzero"`
	// When the resource was created.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// DTMF method: auto, rfc4733, info or inband.
	Dtmf string `json:"dtmf"`
	// live or test. The environments are separate.
	Environment string `json:"environment"`
	// Extension of the phone.
	Extension string `json:"extension"`
	// Unique id. It never changes and is never reused.
	ID string `json:"id"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// Destination of audio: auto, on or off.
	Nat string `json:"nat"`
	// The type of the resource.
	Object string `json:"object"`
	// Only in the response that created the password.
	Password string `json:"password,omitzero"`
	// SRTP: off, optional or required.
	Srtp string `json:"srtp"`
	// true if SRTP keys are also sent without TLS.
	SrtpKeysInClear bool `json:"srtp_keys_in_clear"`
	// registered if the phone can be called. One of registered, unregistered.
	Status string `json:"status,omitzero"`
	// Allowed SIP transport: any, udp, tcp or tls.
	Transport string `json:"transport"`
	// When the resource was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// User name for registration.
	Username string `json:"username"`
	// test_environment: the phone belongs to the test environment and is never used.
	Warnings []Detail `json:"warnings,omitzero"`
	// The workspace of the resource.
	WorkspaceID string `json:"workspace_id"`
}

// PhoneContact is part of a response.
type PhoneContact struct {
	// Source address of the registration, to which calls are sent.
	Address string `json:"address"`
	// Time of expiry.
	ExpiresAt time.Time `json:"expires_at"`
	// Priority of the contact (q value), 0 to 1.
	Priority float64 `json:"priority"`
	// When the phone registered from this address.
	Since time.Time `json:"since"`
	// udp, tcp or tls.
	Transport string `json:"transport"`
	// User-Agent header of the phone.
	UserAgent string `json:"user_agent,omitzero"`
}

// PhoneUpdate is part of a request.
type PhoneUpdate struct {
	// Codecs in order of preference. Default: PCMU, PCMA.
	Codecs Optional[[]string] `json:"codecs,omitzero"`
	// DTMF method. auto: telephone events (RFC 4733) if both ends support them, otherwise inband tones. One of auto, rfc4733, info, inband.
	Dtmf Optional[string] `json:"dtmf,omitzero"`
	// 2 to 6 digits, unique among the phones and agents of the workspace.
	Extension *string `json:"extension,omitempty"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// Name for people.
	Name *string `json:"name,omitempty"`
	// Destination of audio. off: the address in the SDP. on: the source address of the phone's RTP. auto: the address in the SDP, or the RTP source if that address is not allowed. Default: auto. One of auto, on, off.
	Nat Optional[string] `json:"nat,omitzero"`
	// At least 12 characters. Default: Callboard creates one and shows it once. A change ends the registrations of the phone.
	Password Optional[string] `json:"password,omitzero"`
	// SRTP with keys in SDP. For a phone that is not registered over TLS, optional counts as off, and calls with required fail. Default: off. One of off, optional, required.
	Srtp Optional[string] `json:"srtp,omitzero"`
	// true: SRTP keys are also sent without TLS. Anyone who sees the signaling can then decrypt the audio.
	SrtpKeysInClear Optional[bool] `json:"srtp_keys_in_clear,omitzero"`
	// Allowed SIP transport of the phone. Default: any. One of any, udp, tcp, tls.
	Transport Optional[string] `json:"transport,omitzero"`
	// User name for registration, unique in the installation. Default: the extension.
	Username Optional[string] `json:"username,omitzero"`
}
