package validation

import "github.com/callboard/callboard/domain"

// Length limits of a phone's password.
const (
	MinPhonePassword = 12
	MaxPhonePassword = 128
)

// PhoneRecord returns all problems with a phone. An empty password is valid, because the service then generates the
// password.
func PhoneRecord(x *domain.Phone) domain.Problems {
	var p domain.Problems
	Metadata(&p, x.Metadata)
	Text(&p, "name", x.Name, true, MaxName)
	x.SetDefaults()
	Extension(&p, x.Extension, true)
	if x.Username == "" {
		x.Username = x.Extension
	}
	if x.Username != x.Extension && !domain.IsUsername(x.Username) {
		p.Add("username", domain.CodeValidation, "%q is no user name: 2 to 32 letters, digits, dots, dashes and underscores", shorten(x.Username))
	}
	Text(&p, "password", x.Password, false, MaxPhonePassword)
	if n := len(x.Password); n > 0 && n < MinPhonePassword {
		p.Add("password", domain.CodeValidation, "has fewer than %d characters", MinPhonePassword)
	}
	media := x.MediaTrunk()
	checkMediaSettings(&p, &media)
	checkOneOf(&p, "transport", x.Transport, domain.PhoneTransportAny, "udp", "tcp", "tls")
	if x.SRTP == "required" && !x.KeysInClear && (x.Transport == "udp" || x.Transport == "tcp") {
		p.Add("srtp", domain.CodeValidation, "needs transport tls or any, or srtp_keys_in_clear")
	}
	return p
}

// Extension adds a problem if the text is not a valid internal extension. An empty text is valid if required is false.
func Extension(p *domain.Problems, text string, required bool) {
	switch {
	case text == "" && required:
		p.Add("extension", domain.CodeValidation, "is required")
	case text != "" && !domain.IsExtension(text):
		p.Add("extension", domain.CodeValidation, "%q is no extension: 2 to 6 digits that are no emergency number anywhere", shorten(text))
	}
}
