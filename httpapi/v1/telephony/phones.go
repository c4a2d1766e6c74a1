package telephony

import (
	"context"
	"net/http"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
)

// Phones manages the SIP phones of a workspace. Status and Contacts of a returned phone come from its current SIP
// registrations.
type Phones interface {
	// CreatePhone stores a phone. It creates the password if x has none. An already_exists error names extension or
	// username as param.
	CreatePhone(ctx context.Context, p domain.Principal, x *domain.Phone) (*domain.Phone, error)
	Phone(ctx context.Context, p domain.Principal, id string) (*domain.Phone, error)
	ListPhones(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Phone], error)
	// UpdatePhone applies change to a phone. A new password or username ends the phone's SIP registrations.
	UpdatePhone(ctx context.Context, p domain.Principal, id string, change func(*domain.Phone) error) (*domain.Phone, error)
	DeletePhone(ctx context.Context, p domain.Principal, id string) error
}

// phoneHandlers serves the operations of phones.
type phoneHandlers struct {
	*router.Router

	phones Phones
}

// NewPhone is a phone in a request body.
type NewPhone struct {
	Extension   string            `json:"extension" doc:"2 to 6 digits, unique among the phones and agents of the workspace." example:"1001"`
	Username    string            `json:"username,omitempty" doc:"User name for registration, unique in the installation. Default: the extension."`
	Password    string            `json:"password,omitempty" minLength:"12" doc:"At least 12 characters. Default: Callboard creates one and shows it once. A change ends the registrations of the phone."`
	Name        string            `json:"name" example:"Front desk"`
	Codecs      []string          `json:"codecs,omitempty" enum:"PCMU,PCMA,G722,opus" nullable:"false" doc:"Codecs in order of preference. Default: PCMU, PCMA."`
	DTMF        string            `json:"dtmf,omitempty" enum:"auto,rfc4733,info,inband"`
	SRTP        string            `json:"srtp,omitempty" enum:"off,optional,required" doc:"SRTP with keys in SDP. For a phone that is not registered over TLS, optional counts as off, and calls with required fail. Default: off."`
	KeysInClear bool              `json:"srtp_keys_in_clear,omitempty" doc:"true: SRTP keys are also sent without TLS. Anyone who sees the signaling can then decrypt the audio."`
	NAT         string            `json:"nat,omitempty" enum:"auto,on,off" doc:"Destination of audio. off: the address in the SDP. on: the source address of the phone's RTP. auto: the address in the SDP, or the RTP source if that address is not allowed. Default: auto."`
	Transport   string            `json:"transport,omitempty" enum:"any,udp,tcp,tls" doc:"Allowed SIP transport of the phone. Default: any."`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// apply copies the settings of the request body to x and validates x.
func (n *NewPhone) apply(x *domain.Phone) error {
	x.Extension, x.Username, x.Password, x.Name, x.Metadata = n.Extension, n.Username, n.Password, n.Name, n.Metadata
	x.Codecs, x.DTMF, x.SRTP, x.KeysInClear, x.NAT, x.Transport = slices.Clone(n.Codecs), n.DTMF, n.SRTP, n.KeysInClear, n.NAT, n.Transport
	return validation.PhoneRecord(x).Err()
}

// PruneStored drops a stored user name that equals the extension. After a change of the extension, the user name then
// defaults to the new extension.
func (*NewPhone) PruneStored(_ any, stored, _ map[string]any) {
	if stored["username"] == stored["extension"] {
		delete(stored, "username")
	}
}

// registerPhones registers the operations of phones.
func registerPhones(r *router.Router, phones Phones) {
	s := &phoneHandlers{Router: r, phones: phones}
	const tag, path = "Phones", "/v1/phones"
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path, ID: "createPhone", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create a phone",
		Description: "The phone registers at the SIP address of the service with username and password. Only this response contains a created password. A phone of the test environment is stored but never used; its warnings say so.",
	}, s.createPhone)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listPhones", Tag: tag, Summary: "List phones"},
		router.HandleList(s.phones, Phones.ListPhones, (*domain.Phone).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getPhone", Tag: tag, Summary: "Get a phone"},
		router.HandleByID(domain.PrefixPhone, s.phones, Phones.Phone, (*domain.Phone).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updatePhone", Credential: router.KeyOrSession, Tag: tag, Summary: "Change a phone", Description: "Running calls continue. null lets Callboard create a new password, which only this response contains."},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			Body router.Patch[NewPhone]
		},
		) (*router.Response[*domain.Phone], error) {
			id, err := router.PathID(domain.PrefixPhone, in.ID)
			if err != nil {
				return nil, err
			}
			chosen := ""
			changed, err := s.phones.UpdatePhone(ctx, p, id, router.PatchFunc(s.Registry, &in.Body, func(n *NewPhone, x *domain.Phone) error {
				chosen = n.Password
				return n.apply(x)
			}))
			if err != nil {
				return nil, err
			}
			return router.Respond(shownPhone(changed, chosen), nil)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deletePhone", Credential: router.KeyOrSession, Tag: tag, Summary: "Delete a phone"},
		router.HandleDeleteByID(domain.PrefixPhone, "phone", s.phones, Phones.DeletePhone))
}

func (s *phoneHandlers) createPhone(ctx context.Context, p domain.Principal, in *struct{ Body NewPhone }) (*router.Response[*domain.Phone], error) {
	x := &domain.Phone{}
	if err := in.Body.apply(x); err != nil {
		return nil, err
	}
	created, err := s.phones.CreatePhone(ctx, p, x)
	if err != nil {
		return nil, err
	}
	return router.RespondCreated(ctx, shownPhone(created, in.Body.Password), nil)
}

// shownPhone returns the API form of a phone. It shows the password only if Callboard created it, that is if chosen,
// the client's password, is empty.
func shownPhone(x *domain.Phone, chosen string) *domain.Phone {
	shown := x.Public()
	if chosen == "" {
		shown.Password = x.Password
	}
	return shown
}

// CheckRules returns the violations of rules that the JSON schema cannot express.
func (n *NewPhone) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.Phone{})
}
