package demo

import (
	"fmt"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/domain"
)

// contacts returns twenty contacts. The last two digits of a number determine the behavior of the simulated phone.
func contacts() []client.NewContact {
	names := []string{
		"Ada", "Basil", "Clara", "Dmitri", "Edith", "Farid", "Greta", "Hugo", "Ines", "Jonas",
		"Kira", "Lars", "Mina", "Noor", "Otto", "Pia", "Quentin", "Rosa", "Samir", "Tilda",
	}
	kinds := []int{11, 12, 14, 11, 18, 11, 13, 12, 11, 19, 11, 17, 16, 11, 15, 12, 20, 11, 14, 11}
	days := []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday"}
	out := make([]client.NewContact, len(names))
	for i, name := range names {
		out[i] = client.NewContact{
			Phone:   fmt.Sprintf("%s%02d%02d", domain.TestCarrierPrefix, 10+i, kinds[i]),
			Context: map[string]any{"name": name, "day": days[i%len(days)]},
		}
	}
	return out
}
