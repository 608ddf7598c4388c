import AwsS3 from "@uppy/aws-s3"
import Uppy from "@uppy/core"

export const uppy = new Uppy().use(AwsS3, { companionEndpoint: "/api" })
