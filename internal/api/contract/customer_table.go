package contract

import "landfall/internal/api/rules"

// customerTable requires nothing: an old system may know no more of a customer
// than that there is one.
var customerTable = rules.NewTable("Customer", "A person or business of an account.",
	rules.May("given_name", rules.Text(255), "First name or names."),
	rules.May("family_name", rules.Text(255), "Family name."),
	rules.May("title", rules.Text(20), "Title, such as Ms or Dr."),
	rules.May("salutation", rules.Text(128), "How the customer is addressed in a letter."),
	rules.May("email", email, "The customer's e-mail address."),
	rules.May("contact_emails", rules.List(0, maxContacts, contactEmail), "Further e-mail addresses."),
	rules.May("mobile", phone, "Mobile number; an empty text means none."),
	rules.May("landline", phone, "Landline number; an empty text means none."),
	rules.May("alternative_phone_numbers", rules.List(0, maxContacts, rules.Object(alternativePhoneTable)), "Further phone numbers."),
	rules.May("date_of_birth", rules.Date(), "Date of birth; not in the future."),
	rules.May("deceased", rules.OrEmpty(rules.Choice("Reported", "Confirmed")), "Whether the customer's death was reported or confirmed."),
	rules.May("role", code, "The customer's role on the account."),
	rules.May("label", rules.Text(255), "A name support gives the customer."),
	rules.May("user_identifier", rules.Line(128), "The customer's identifier in the other supplier's system."),
	rules.May("customer_preferences", rules.Object(preferencesTable), "What the customer wants to hear about."),
	rules.May("consents", rules.List(0, maxConsents, rules.Object(consentTable)), "What the customer agreed to."),
	rules.May("metadata", metadata, "Anything else worth keeping, untouched."),
)

// A phone number is an object of its own, as the interface has always had it.
var alternativePhoneTable = rules.NewTable("AlternativePhone", "A further phone number of a customer.",
	rules.Need("phone_number", phone, "The number; an empty text means none."),
)

var preferencesTable = rules.NewTable("CustomerPreferences", "What a customer wants to hear about.",
	rules.May("opted_into_sms", rules.Boolean(), "Text messages."),
	rules.May("opted_into_offers", rules.Boolean(), "Offers."),
	rules.May("opted_into_recommended", rules.Boolean(), "Recommendations."),
	rules.May("opted_into_updates", rules.Boolean(), "News."),
	rules.May("opted_into_third_parties", rules.Boolean(), "Messages of third parties."),
)

// consentTable is shared by accounts and customers.
var consentTable = rules.NewTable("Consent", "What somebody agreed to, or did not.",
	rules.Need("type", code, "What the consent is about; once per list."),
	rules.Need("value", rules.Choice("ACCEPTED", "REJECTED", "UNKNOWN", "PENDING"), "What was answered."),
	rules.May("signed_at", rules.Datetime(), "When it was answered; not in the future."),
	rules.May("description", rules.Text(255), "A remark on the consent."),
)
