package httpapi

import "github.com/callboard/callboard/httpapi/router"

// MergePatch exports router.MergePatch to the tests.
func MergePatch(target, patch any) any { return router.MergePatch(target, patch) }
