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

// Phones are softphones that register here. What they answer carries Status
// and Contacts.
type Phones interface {
	// CreatePhone makes the password where it is empty. already_exists with
	// param extension or username where somebody has it.
	CreatePhone(ctx context.Context, p domain.Principal, x *domain.Phone) (*domain.Phone, error)
	Phone(ctx context.Context, p domain.Principal, id string) (*domain.Phone, error)
	ListPhones(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Phone], error)
	// UpdatePhone: another password or username ends the phone's registrations.
	UpdatePhone(ctx context.Context, p domain.Principal, id string, change func(*domain.Phone) error) (*domain.Phone, error)
	DeletePhone(ctx context.Context, p domain.Principal, id string) error
}

// phoneHandlers serves the operations of phones.
type phoneHandlers struct {
	*router.Router

	phones Phones
}

// NewPhone is a phone as it is sent.
type NewPhone struct {
	Extension   string            `json:"extension" doc:"2 to 6 digits, unique among the phones and agents of the workspace." example:"1001"`
	Username    string            `json:"username,omitempty" doc:"What the phone signs in with. Unique in the installation. Default: the extension."`
	Password    string            `json:"password,omitempty" minLength:"12" doc:"At least 12 characters. Default: Callboard makes one and shows it once. Another one ends the phone's registrations."`
	Name        string            `json:"name" example:"Front desk"`
	Codecs      []string          `json:"codecs,omitempty" enum:"PCMU,PCMA,G722,opus" nullable:"false" doc:"In the order of preference. Default: PCMU, PCMA."`
	DTMF        string            `json:"dtmf,omitempty" enum:"auto,rfc4733,info,inband"`
	SRTP        string            `json:"srtp,omitempty" enum:"off,optional,required" doc:"Keys go in the SDP: where the phone is not registered over TLS, optional counts as off and required fails its calls. Default: off."`
	KeysInClear bool              `json:"srtp_keys_in_clear,omitempty" doc:"Tells keys of SRTP without TLS too, where whoever sees the signalling can listen."`
	NAT         string            `json:"nat,omitempty" enum:"auto,on,off" doc:"Where audio goes: auto to the address in the SDP, and where that may not be reached, to the source of the phone's RTP; on always to that source; off always to the address in the SDP. Default: auto."`
	Transport   string            `json:"transport,omitempty" enum:"any,udp,tcp,tls" doc:"How the phone may register and call. Default: any."`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// apply writes the settings to a phone, and checks the phone.
func (n *NewPhone) apply(x *domain.Phone) error {
	x.Extension, x.Username, x.Password, x.Name, x.Metadata = n.Extension, n.Username, n.Password, n.Name, n.Metadata
	x.Codecs, x.DTMF, x.SRTP, x.KeysInClear, x.NAT, x.Transport = slices.Clone(n.Codecs), n.DTMF, n.SRTP, n.KeysInClear, n.NAT, n.Transport
	return validation.PhoneRecord(x).Err()
}

// PruneStored lets a user name that is the extension follow the extension.
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
		Method: http.MethodPost, Path: path, ID: "createPhone", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Let a phone register",
		Description: "The phone signs in at the service's SIP address with username and password. A password that was made is shown in this answer only. A phone of the test environment is stored and never used, as its warnings tell.",
	}, s.createPhone)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listPhones", Tag: tag, Summary: "List phones"},
		router.HandleList(s.phones, Phones.ListPhones, (*domain.Phone).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getPhone", Tag: tag, Summary: "Get a phone"},
		router.HandleByID(domain.PrefixPhone, s.phones, Phones.Phone, (*domain.Phone).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updatePhone", Credential: router.KeyOrSession, Tag: tag, Summary: "Change a phone", Description: "Calls that are running go on. A password that Callboard makes, because it is set to null, is shown in this answer only."},
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
	made, err := s.phones.CreatePhone(ctx, p, x)
	if err != nil {
		return nil, err
	}
	return router.RespondCreated(ctx, shownPhone(made, in.Body.Password), nil)
}

// shownPhone is a phone with its password where Callboard made it.
func shownPhone(x *domain.Phone, chosen string) *domain.Phone {
	shown := x.Public()
	if chosen == "" {
		shown.Password = x.Password
	}
	return shown
}

// CheckRules checks what the schema cannot express.
func (n *NewPhone) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.apply(&domain.Phone{})
}
